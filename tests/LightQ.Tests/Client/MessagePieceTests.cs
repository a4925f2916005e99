using System.Runtime.InteropServices;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What a message that is kept keeps alive.</summary>
public sealed class MessagePieceTests
{
    private const int MostKept = 8 * 1024;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(3_000)]
    [InlineData(8_000)]
    [InlineData(8_089)]
    [InlineData(100_000)]
    public async Task A_message_keeps_8_KiB_at_most_or_itself_if_it_is_longer(int bodyBytes)
    {
        byte[][] bodies = [.. Enumerable.Range(0, 40).Select(i => Filled(bodyBytes, (byte)i))];
        List<Message> kept = await ReceiveAsync(bodies, bodies.Length);
        for (int i = 0; i < kept.Count; i++)
        {
            Assert.Equal(i, kept[i].Offset);
            Assert.Equal(bodies[i], kept[i].Body.ToArray());
            Assert.InRange(KeptBytes(kept[i]), bodyBytes, Math.Max(MostKept, bodyBytes + 200));
            Assert.Equal(DateTimeOffset.UnixEpoch.AddSeconds(2), kept[i].AppendTime);
        }
        if (bodyBytes == 100)
            Assert.Same(ArrayOf(kept[0]), ArrayOf(kept[1]));
    }

    [Fact]
    public async Task Empty_bodies_and_bodies_of_any_length_stand_next_to_each_other()
    {
        var random = new Random(40);
        byte[][] bodies =
        [
            .. Enumerable
                .Range(0, 500)
                .Select(i => Filled(i % 9 == 0 ? 0 : random.Next(i % 50 == 1 ? 20_000 : 300), (byte)i)),
        ];
        List<Message> kept = await ReceiveAsync(bodies, bodies.Length);
        Assert.Equal(bodies, kept.Select(message => message.Body.ToArray()));
    }

    [Fact]
    public async Task A_batch_keeps_nothing_of_the_next()
    {
        List<Message> kept = await ReceiveAsync([Filled(10, 1)], 1);
        Assert.InRange(KeptBytes(kept[0]), 10, 130);
    }

    private static async Task<List<Message>> ReceiveAsync(byte[][] bodies, int count)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        ValueTask<List<Message>> receiving = client.ConsumeAsync("orders").Take(count).ToListAsync(Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(0, bodies));
        return await receiving;
    }

    private static byte[] Filled(int length, byte value)
    {
        byte[] body = new byte[length];
        body.AsSpan().Fill(value);
        return body;
    }

    private static int KeptBytes(Message message) => ArrayOf(message).Length;

    private static byte[] ArrayOf(Message message)
    {
        Assert.True(MemoryMarshal.TryGetArray(message.Body, out ArraySegment<byte> body));
        return body.Array!;
    }
}
