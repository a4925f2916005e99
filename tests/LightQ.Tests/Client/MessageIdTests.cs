using System.Text;
using LightQ.Client;
using LightQ.Client.Batches;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What the SDK sends of messages with an id, and what it makes of the acks.</summary>
public sealed class MessageIdTests
{
    private int _sequence;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_message_with_an_id_has_a_batch_of_its_own_and_its_ack_says_where_the_first_one_is()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(broker, client);
        using FakeConnection _ = connection;

        Task<PublishAck> publishing = producer
            .PublishAsync("x"u8, new PublishOptions { MessageId = "order-1" }, cancellationToken: Cancel)
            .AsTask();
        FakeFrame frame = await connection.ReadAsync(FrameType.Publish);
        Assert.Equal(
            ErrorCode.None,
            BatchValidator.CheckPublished(
                frame.Body,
                ProtocolLimits.DefaultBatchBytes,
                out BatchView batch,
                out string _
            )
        );
        Assert.Equal((1, "order-1"), (batch.RecordCount, Encoding.UTF8.GetString(batch.MessageId)));
        await connection.AckAsync(frame.Header.Stream, new AckRange(0, 1, ErrorCode.None, 17, IsDuplicate: true));

        PublishAck ack = await publishing;
        Assert.Equal((17L, 1, true), (ack.Offset, ack.Count, ack.IsDuplicate));
        Task<PublishAck> plain = producer.PublishAsync("y"u8, cancellationToken: Cancel).AsTask();
        FakeBatch next = await connection.ReadBatchAsync();
        await connection.AckAsync(next.Stream, next.Ack(40));
        Assert.False((await plain).IsDuplicate);
    }

    [Fact]
    public async Task A_named_producer_takes_the_numbers_again_that_only_duplicates_had_when_the_broker_was_killed()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenNamedAsync(broker, client);
        Task<PublishAck> second = Publish(producer, "a", connection, out Task<FakeBatch> sent);
        await connection.AckAsync((await sent).Stream, (await sent).Ack(0) with { IsDuplicate = true });
        Assert.True((await second).IsDuplicate);
        Task<PublishAck> third = Publish(producer, "c", connection, out sent);
        Assert.Equal(2ul, (await sent).BaseSequence);

        Task<FakeConnection> accepting = broker.AcceptAsync();
        connection.Dispose();
        using FakeConnection again = await accepting;
        FakeFrame opened = await again.OpenProducerAsync(producerId: 9, epoch: 2, next: 1, batchWindow: 1024);
        Assert.Equal("p", opened.As<OpenProducerFrame>().ProducerName);
        FakeBatch resent = await again.ReadBatchAsync();
        Assert.Equal((1ul, 2u, "c"), (resent.BaseSequence, resent.Epoch, resent.Bodies[0]));
        await again.AckAsync(resent.Stream, resent.Ack(1));
        PublishAck ack = await third;
        Assert.Equal((1L, false), (ack.Offset, ack.IsDuplicate));
    }

    [Fact]
    public async Task A_named_producer_does_not_go_on_where_the_broker_lost_what_it_had_stored()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenNamedAsync(broker, client);
        Task<PublishAck> second = Publish(producer, "b", connection, out Task<FakeBatch> sent);
        await sent;

        Task<FakeConnection> accepting = broker.AcceptAsync();
        connection.Dispose();
        using FakeConnection again = await accepting;
        await again.OpenProducerAsync(producerId: 9, epoch: 2, next: 0, batchWindow: 1024);
        Assert.Equal(ErrorCode.OutcomeUnknown, (await Assert.ThrowsAsync<LightQException>(() => second)).Code);
    }

    [Fact]
    public void Short_batches_with_ids_share_frames_and_others_do_not()
    {
        var pool = new SendBatchPool(64 * 1024, 10, TimeProvider.System);
        SendBatch[] batches = [.. Enumerable.Range(0, 10).Select(i => Completed(pool, i is 0 or 4 ? null : $"{i}"))];
        var segments = new List<ArraySegment<byte>>();
        int most = batches[1].Length * 3;
        PublishFrames.Add(segments, [.. batches], 0, most);

        byte[] sent = [.. segments.SelectMany(s => s)];
        var frames = new List<int[]>();
        for (int at = 0; at < sent.Length; )
        {
            Assert.True(FrameHeader.TryRead(sent.AsSpan(at), ProtocolLimits.DefaultFrameBytes, out FrameHeader header));
            var sequences = new List<int>();
            foreach (BatchView batch in new BatchRun(sent.AsSpan(at + FrameHeader.Size, header.BodyLength)))
            {
                Assert.True(batch.VerifyHeader() && batch.VerifyPayload());
                sequences.Add((int)batch.BaseSequence);
            }
            frames.Add([.. sequences]);
            at += header.Length;
        }
        Assert.Equal(
            [
                [0],
                [1, 2, 3],
                [4],
                [5, 6, 7],
                [8, 9],
            ],
            frames
        );

        SendBatch Completed(SendBatchPool from, string? id)
        {
            SendBatch batch = from.Rent(200, new BatchProperties(0, 0, id));
            Assert.True(batch.TryAdd("body"u8));
            batch.BaseSequence = (ulong)_sequence++;
            batch.Complete(1, 0, 0);
            return batch;
        }
    }

    [Fact]
    public void A_message_with_an_id_holds_a_buffer_of_its_size_and_gives_it_back()
    {
        var pool = new SendBatchPool(64 * 1024, 10, TimeProvider.System);
        SendBatch small = pool.Rent(200, new BatchProperties(0, 0, "a"));
        Assert.Equal(SendBatchPool.SmallBatchBytes, small.BatchBytes);
        Assert.True(small.TryAdd("body"u8));
        small.Complete(1, 0, 0);
        byte[] buffer = small.Frame.Array!;
        small.Release();
        SendBatch next = pool.Rent(200, new BatchProperties(0, 0, "b"));
        Assert.True(next.TryAdd("body"u8));
        next.Complete(1, 0, 0);
        Assert.Same(buffer, next.Frame.Array);
        Assert.Equal(64 * 1024, pool.Rent(200).BatchBytes);
        Assert.Equal(64 * 1024, pool.Rent(2000, new BatchProperties(0, 0, "c")).BatchBytes);
    }

    [Theory]
    [InlineData("")]
    [InlineData("129")]
    [InlineData("surrogate")]
    public void What_is_no_id_is_refused_where_it_is_set(string kind)
    {
        string id = kind switch
        {
            "129" => new string('x', 129),
            "surrogate" => "a\ud800",
            _ => kind,
        };
        Assert.Throws<ArgumentException>(() => new PublishOptions { MessageId = id });
        Assert.Equal(new string('x', 128), new PublishOptions { MessageId = new string('x', 128) }.MessageId);
    }

    [Fact]
    public async Task A_batch_that_is_built_of_several_messages_has_no_id()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(broker, client);
        using FakeConnection _ = connection;
        Assert.Throws<ArgumentException>(() => producer.CreateBatch(new PublishOptions { MessageId = "a" }));
    }

    /// <summary>A producer with a name that has published the message a, which is acknowledged.</summary>
    private static async Task<(Producer Producer, FakeConnection Connection)> OpenNamedAsync(
        FakeBroker broker,
        LightQClient client
    )
    {
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(
            broker,
            client,
            options: new ProducerOptions { Name = "p" },
            producerId: 9,
            epoch: 1,
            batchWindow: 1024
        );
        Task<PublishAck> first = Publish(producer, "a", connection, out Task<FakeBatch> sent);
        await connection.AckAsync((await sent).Stream, (await sent).Ack(0));
        await first;
        return (producer, connection);
    }

    private static Task<PublishAck> Publish(
        Producer producer,
        string text,
        FakeConnection connection,
        out Task<FakeBatch> sent
    )
    {
        Task<PublishAck> publishing = producer
            .PublishAsync(
                Encoding.UTF8.GetBytes(text),
                new PublishOptions { MessageId = text },
                cancellationToken: Cancel
            )
            .AsTask();
        sent = connection.ReadBatchAsync();
        return publishing;
    }
}
