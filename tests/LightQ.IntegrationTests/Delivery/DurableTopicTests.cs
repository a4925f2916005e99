using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Delivery;

public sealed class DurableTopicTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Everything_acknowledged_is_there_after_a_restart_at_its_offset()
    {
        using var directory = new TemporaryDirectory();
        const int Messages = 20_000;
        await using (TestServer server = await TestServer.StartAsync(directory: directory.Path))
        {
            await server.CreateTopicAsync("t", TopicKind.Durable);
            await using var client = new LightQClient(server.ConnectionString);
            await using Producer producer = await client.CreateProducerAsync(
                "t",
                cancellationToken: TestContext.Current.CancellationToken
            );
            for (int i = 0; i < Messages; i++)
            {
                while (!producer.TryPublish(BitConverter.GetBytes(i)))
                    await producer.WaitForRoomAsync(TestContext.Current.CancellationToken);
            }
            PublishAck ack = await producer.PublishAsync(
                BitConverter.GetBytes(Messages),
                cancellationToken: TestContext.Current.CancellationToken
            );
            Assert.Equal((Messages, Durability.Fsync), (ack.Offset, ack.Durability));
        }

        await using TestServer again = await TestServer.StartAsync(directory: directory.Path);
        await using var reader = new LightQClient(again.ConnectionString);
        Assert.Equal(
            Enumerable.Range(0, Messages + 1).Select(i => (long)i),
            await ReadAsync(reader, "t", Messages + 1)
        );
        Assert.Equal(1u, again.Broker.GetTopic("t").Partitions[0].Log.Epoch);
    }

    [Fact]
    public async Task Broadcast_and_group_on_one_topic_see_the_same_and_the_group_goes_on_where_it_was_after_a_restart()
    {
        using var directory = new TemporaryDirectory();
        await using (TestServer server = await TestServer.StartAsync(directory: directory.Path))
        {
            await server.CreateTopicAsync("t", TopicKind.Durable);
            await using var client = new LightQClient(server.ConnectionString);
            await PublishAsync(client, 0, 100);
            Assert.Equal(Offsets(0, 100), await ReadAsync(client, "t", 100));
            Assert.Equal(Offsets(0, 100), await ReadAsync(client, "t", 100, "g"));
        }

        await using TestServer again = await TestServer.StartAsync(directory: directory.Path);
        await using var back = new LightQClient(again.ConnectionString);
        await PublishAsync(back, 100, 50);
        Assert.Equal(Offsets(100, 50), await ReadAsync(back, "t", 50, "g"));
        Assert.Equal(Offsets(0, 150), await ReadAsync(back, "t", 150));
    }

    [Fact]
    public async Task Members_of_a_group_share_every_message_exactly_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", TopicKind.Durable);
        await using var first = new LightQClient(server.ConnectionString);
        await using var second = new LightQClient(server.ConnectionString);
        const int Messages = 5_000;
        var seen = new System.Collections.Concurrent.ConcurrentBag<long>();
        using var done = new CancellationTokenSource(Patience);
        Task[] members = [ConsumeAsync(first), ConsumeAsync(second), ConsumeAsync(second)];
        await PublishAsync(first, 0, Messages, bodyBytes: 200);

        await Task.WhenAll(members);

        Assert.Equal(Offsets(0, Messages), seen.Order());

        async Task ConsumeAsync(LightQClient client)
        {
            try
            {
                await foreach (
                    Message message in client
                        .ConsumeAsync("t", new ConsumeOptions { Group = "g", Start = StartPosition.Committed })
                        .WithCancellation(done.Token)
                )
                {
                    seen.Add(message.Offset);
                    if (seen.Count >= Messages)
                        await done.CancelAsync();
                }
            }
            catch (OperationCanceledException) when (seen.Count >= Messages)
            {
                // All are in.
            }
        }
    }

    [Fact]
    public async Task A_named_producers_batches_are_recognised_after_a_restart()
    {
        using var directory = new TemporaryDirectory();
        await using (TestServer server = await TestServer.StartAsync(directory: directory.Path))
        {
            await server.CreateTopicAsync("t", TopicKind.Durable);
            await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
            ProducerOpenedFrame opened = await OpenNamedAsync(client);
            Assert.Equal((1u, 0ul), (opened.ProducerEpoch, opened.NextSequence));
            Assert.Equal(new AckRange(0, 3, ErrorCode.None, 0), await PublishAsync(client, opened, 0, 3));
        }

        await using TestServer again = await TestServer.StartAsync(directory: directory.Path);
        await using RawClient back = await RawClient.ConnectAsync(again.DataPort);
        ProducerOpenedFrame reopened = await OpenNamedAsync(back);
        Assert.Equal((true, 3ul), (reopened.ProducerEpoch > 1, reopened.NextSequence));
        Assert.Equal(new AckRange(0, 3, ErrorCode.None, 0), await PublishAsync(back, reopened, 0, 3));
        Assert.Equal(new AckRange(3, 1, ErrorCode.None, 3), await PublishAsync(back, reopened, 3, 1));
        Assert.Equal(4, again.Broker.GetTopic("t").Partitions[0].Log.EndOffset);
    }

    [Fact]
    public async Task Truncated_offsets_reach_a_consumer_as_a_gap()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, 0, 10);
        Assert.Equal(6, server.Broker.TruncateTopic("t", 0, 6));
        MessageGap? gap = null;
        using var patience = new CancellationTokenSource(Patience);
        var options = new ConsumeOptions { Start = StartPosition.Offset(2), OnGap = g => gap = g };

        await foreach (Message message in client.ConsumeAsync("t", options, patience.Token))
        {
            Assert.Equal(6, message.Offset);
            break;
        }

        Assert.Equal((2L, 5L), (gap!.FirstOffset, gap.LastOffset));
    }

    [Fact]
    public async Task A_deleted_topic_ends_its_streams_and_its_name_is_free_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic old = await server.CreateTopicAsync("t", TopicKind.Durable);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.SubscribeAsync("t", 1, credit: 1000);
        await client.OpenProducerAsync("t", 2);

        await server.Broker.DeleteTopicAsync("t", TestContext.Current.CancellationToken);

        for (int i = 0; i < 2; i++)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            Assert.Equal(
                (FrameType.Closed, ErrorCode.TopicDeleted),
                (header.Type, FrameCodec.Read<ClosedFrame>(body).Code)
            );
        }
        Topic made = await server.CreateTopicAsync("t");
        Assert.NotEqual(old.Id, made.Id);
    }

    private static IEnumerable<long> Offsets(long first, int count) =>
        Enumerable.Range(0, count).Select(i => first + i);

    private static async Task PublishAsync(LightQClient client, int first, int count, int bodyBytes = 4)
    {
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        byte[] body = new byte[bodyBytes];
        for (int i = 0; i < count; i++)
        {
            BitConverter.TryWriteBytes(body, first + i);
            while (!producer.TryPublish(body))
                await producer.WaitForRoomAsync(TestContext.Current.CancellationToken);
        }
        await producer.FlushAsync().WaitAsync(Patience);
    }

    private static async Task<List<long>> ReadAsync(LightQClient client, string topic, int count, string? group = null)
    {
        using var patience = new CancellationTokenSource(Patience);
        var offsets = new List<long>();
        StartPosition start = group is null ? StartPosition.Earliest : StartPosition.Committed;
        await foreach (
            Message message in client
                .ConsumeAsync(topic, new ConsumeOptions { Group = group, Start = start })
                .WithCancellation(patience.Token)
        )
        {
            Assert.Equal(message.Offset, BitConverter.ToInt32(message.Body.Span));
            offsets.Add(message.Offset);
            if (offsets.Count == count)
                break;
        }
        return offsets;
    }

    private static async Task<ProducerOpenedFrame> OpenNamedAsync(RawClient client)
    {
        await client.SendAsync(new OpenProducerFrame("t", 0, Durability.Default, "billing"), 1, 1);
        return FrameCodec.Read<ProducerOpenedFrame>(await client.ReadAsync(FrameType.ProducerOpened));
    }

    private static async Task<AckRange> PublishAsync(
        RawClient client,
        ProducerOpenedFrame opened,
        ulong sequence,
        int records
    )
    {
        byte[] batch = RawClient.Batch(
            sequence,
            10,
            records,
            new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, sequence)
        );
        await client.SendAsync(RawClient.PublishFrame(1, batch));
        byte[] body = await client.ReadAsync(FrameType.PublishAck);
        return new PublishAckFrame(body)[0];
    }
}
