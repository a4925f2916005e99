using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>Named producers with thousands of small batches under way, on real connections that are lost.</summary>
public sealed class BatchWindowTests
{
    private const int Most = ProtocolLimits.UnacknowledgedBatches;
    private const uint Stream = 1;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Theory]
    [InlineData(TopicKind.Transient)]
    [InlineData(TopicKind.Durable)]
    public async Task A_client_that_does_not_know_the_limit_and_loses_all_acks_is_stored_once(TopicKind kind)
    {
        await using TestServer server = await TestServer.StartAsync();
        Partition partition = (await server.CreateTopicAsync("t", kind)).Partitions[0];
        await using (RawClient client = await RawClient.ConnectAsync(server.DataPort))
        {
            ProducerOpenedFrame opened = await OpenAsync(client);
            Assert.Equal((uint)Most, opened.BatchWindow);
            await SendAsync(client, opened, 0, Most);
            await Eventually.TrueAsync(
                () => partition.Log.EndOffset == Most && !partition.Producers[0].IsBusy,
                Patience,
                () => $"{partition.Log.EndOffset} are stored"
            ); // And acknowledged, to nobody.
            await SendAsync(client, opened, Most, 2 * Most);
            await Eventually.TrueAsync(
                () => server.Broker.PendingBytes == Most * Batch(opened, 0).Length,
                Patience,
                () => $"{partition.Log.EndOffset} are stored, {server.Broker.PendingBytes} bytes wait"
            );
            Assert.Equal(Most, partition.Log.EndOffset);
        }
        await server.ConnectionsAsync(0);

        await using RawClient again = await RawClient.ConnectAsync(server.DataPort);
        ProducerOpenedFrame reopened = await OpenAsync(again);
        Assert.Equal((ulong)Most, reopened.NextSequence);
        await SendAsync(again, reopened, 0, Most);
        Assert.Equal((Most, null), await ReadAcksAsync(again, 0, Most));
        await SendAsync(again, reopened, Most, 2 * Most);
        Assert.Equal((2 * Most, null), await ReadAcksAsync(again, Most, 2 * Most));
        Assert.Equal(2 * Most, partition.Log.EndOffset);
    }

    [Fact]
    public async Task One_batch_too_many_gets_a_typed_error_behind_the_acks_of_the_others()
    {
        await using TestServer server = await TestServer.StartAsync();
        Partition partition = (await server.CreateTopicAsync("t", TopicKind.Durable)).Partitions[0];
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        ProducerOpenedFrame opened = await OpenAsync(client);

        await client.SendAsync(
            RawClient.PublishFrame(Stream, [.. Enumerable.Range(0, Most + 1).SelectMany(i => Batch(opened, i))])
        );

        Assert.Equal(
            (Most, new AckRange(Most, 1, ErrorCode.WindowExceeded, -1)),
            await ReadAcksAsync(client, 0, Most + 1)
        );
        ClosedFrame closed = await ReadClosedAsync(client);
        Assert.Equal(ErrorCode.WindowExceeded, closed.Code);
        Assert.Equal(Most, partition.Log.EndOffset);
        Assert.Equal((ulong)Most, (await OpenAsync(client)).NextSequence);
    }

    private static async Task<ProducerOpenedFrame> OpenAsync(RawClient client)
    {
        await client.SendAsync(new OpenProducerFrame("t", 0, Durability.Default, "p"), Stream, Stream);
        return FrameCodec.Read<ProducerOpenedFrame>(await client.ReadAsync(FrameType.ProducerOpened));
    }

    private static byte[] Batch(in ProducerOpenedFrame opened, int sequence) =>
        RawClient.Batch(0, 0, origin: new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, (ulong)sequence));

    private static async Task SendAsync(RawClient client, ProducerOpenedFrame opened, int first, int end)
    {
        for (int i = first; i < end; i++)
            await client.SendAsync(RawClient.PublishFrame(Stream, Batch(opened, i)));
    }

    /// <summary>Reads acks, answers Pings, and compares offsets: this producer is alone in its log.</summary>
    /// <returns>Up to where messages are stored, and the range that is not.</returns>
    private static async Task<(int Stored, AckRange? Refused)> ReadAcksAsync(RawClient client, int stored, int end)
    {
        while (stored < end)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            if (header.Type is 0 or FrameType.Error)
            {
                Assert.Fail(
                    $"The connection ends: {(body is null ? "" : FrameCodec.Read<ErrorFrame>(body).ToString())}"
                );
            }

            if (header.Type == FrameType.Ping)
                await client.SendAsync(new PongFrame(FrameCodec.Read<PingFrame>(body).Payload));
            if (header.Type != FrameType.PublishAck)
                continue;
            var frame = new PublishAckFrame(body);
            for (int i = 0; i < frame.Count; i++)
            {
                AckRange range = frame[i];
                if (range.Error != ErrorCode.None)
                    return (stored, range);
                Assert.Equal(((ulong)stored, (long)stored), (range.FirstSequence, range.BaseOffset));
                stored += (int)range.Count;
            }
        }
        return (stored, null);
    }

    private static async Task<ClosedFrame> ReadClosedAsync(RawClient client)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            Assert.NotEqual(default, header);
            if (header.Type == FrameType.Closed)
                return FrameCodec.Read<ClosedFrame>(body);
        }
    }
}
