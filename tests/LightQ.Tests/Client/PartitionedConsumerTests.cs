using System.Text;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What a client says on the wire to consume, and to publish to, topics of several partitions.</summary>
public sealed class PartitionedConsumerTests
{
    private const int Credit = 96 * 1024;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_consumer_opens_a_stream_per_partition_that_share_its_credit_and_its_number()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { CreditBytes = Credit }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> first = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        uint[] streams = await SubscribeEachAsync(connection, 3);

        await connection.DeliverAsync(streams[2], Text(20, "c0", "c1"));
        await connection.DeliverAsync(streams[0], Text(0, "a0"));
        await connection.WriteAsync(new GapFrame(5, 6, GapReason.Retention), streams[1]);
        await connection.DeliverAsync(streams[2], Text(22, "c2"));
        var seen = new List<string>();
        for (int i = 0; i < 4; i++)
        {
            Assert.True(await (i == 0 ? first : messages.MoveNextAsync()));
            seen.Add($"{messages.Current.Partition}/{messages.Current.Offset} {messages.Current.GetText()}");
        }
        Assert.Equal(["2/20 c0", "2/21 c1", "0/0 a0", "2/22 c2"], seen);
        await messages.DisposeAsync();
        var closed = new HashSet<uint>();
        for (int i = 0; i < 3; i++)
            closed.Add((await connection.ReadAsync(FrameType.Close)).Header.Stream);
        Assert.Equal(streams.Order(), closed.Order());
    }

    [Fact]
    public async Task Every_partition_resumes_by_itself_and_a_topic_made_anew_with_others_ends_the_consumer()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { CreditBytes = Credit }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> first = messages.MoveNextAsync();
        using (FakeConnection connection = await broker.AcceptAsync())
        {
            uint[] streams = await SubscribeEachAsync(connection, 3);
            await connection.DeliverAsync(streams[1], Text(7, "b7", "b8"));
            Assert.True(await first);
            Assert.True(await messages.MoveNextAsync());
        }

        ValueTask<bool> next = messages.MoveNextAsync();
        using FakeConnection again = await broker.AcceptAsync();
        for (uint partition = 0; partition < 3; partition++)
        {
            FakeFrame frame = await again.ReadAsync(FrameType.Subscribe);
            SubscribeFrame subscribe = frame.As<SubscribeFrame>();
            Assert.Equal(
                (partition, StartKind.Offset, partition == 1 ? 9 : 0),
                (subscribe.Partition, subscribe.Start, subscribe.StartValue)
            );
            await again.ReadAsync(FrameType.Credit);
            await again.WriteAsync(
                new SubscribedFrame(Guid.Empty, 4, 6, 3, 0, 0, 0),
                frame.Header.Stream,
                frame.Header.Tag
            );
        }
        LightQException error = await Assert.ThrowsAsync<LightQException>(async () => await next);
        Assert.Equal(ErrorCode.TopicDeleted, error.Code);
        Assert.Contains("4 partitions, not 3", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_producer_opens_the_partitions_that_the_broker_did_not_choose_and_routes_by_key()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<Producer> opening = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        uint[] streams = new uint[4];
        foreach (uint asked in new[] { OpenProducerFrame.AnyPartition, 0u, 1u, 3u })
        {
            FakeFrame open = await connection.ReadAsync(FrameType.OpenProducer);
            Assert.Equal(asked, open.As<OpenProducerFrame>().Partition);
            uint partition = asked == OpenProducerFrame.AnyPartition ? 2 : asked;
            streams[partition] = open.Header.Stream;
            await OpenedAsync(connection, open, partition, 4);
        }
        Producer producer = await opening;

        foreach ((string key, int partition) in new[] { ("42", 3), ("order-42", 2), ("", 0), ("\0", 1) })
        {
            ValueTask<PublishAck> publishing = producer.PublishAsync("x"u8, key: key, cancellationToken: Cancel);
            FakeFrame published = await connection.ReadAsync(FrameType.Publish);
            Assert.Equal(streams[partition], published.Header.Stream);
            await connection.AckAsync(published.Header.Stream, new AckRange(0, 1, ErrorCode.None, 100 + partition));
            PublishAck ack = await publishing;
            Assert.Equal((partition, 100L + partition), (ack.Partition, ack.Offset));
        }
    }

    [Theory]
    [InlineData(1025, 1)]
    [InlineData(2, 2)]
    public async Task A_producer_refuses_what_it_cannot_route(uint partitions, byte rule)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<Producer> opening = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        await OpenedAsync(connection, await connection.ReadAsync(FrameType.OpenProducer), 0, partitions, rule);
        LightQException error = await Assert.ThrowsAsync<LightQException>(() => opening);
        Assert.Equal(ErrorCode.NotSupported, error.Code);
        await connection.ReadAsync(FrameType.Close);
    }

    private static Task OpenedAsync(
        FakeConnection connection,
        FakeFrame open,
        uint partition,
        uint partitions,
        byte rule = 1
    ) =>
        connection.WriteAsync(
            new ProducerOpenedFrame(
                Guid.Empty,
                partition,
                partitions,
                rule,
                1,
                1,
                0,
                0,
                0,
                ProtocolLimits.DefaultPublishWindowBytes,
                ProtocolLimits.DefaultBatchBytes,
                Durability.Memory
            ),
            open.Header.Stream,
            open.Header.Tag
        );

    /// <summary>Says that all partitions are several, and then lets the client subscribe to each.</summary>
    /// <returns>The streams, by partition.</returns>
    private static async Task<uint[]> SubscribeEachAsync(FakeConnection connection, uint partitions)
    {
        FakeFrame all = await connection.ReadAsync(FrameType.Subscribe);
        Assert.Equal(
            (OpenProducerFrame.AnyPartition, 0u),
            (all.As<SubscribeFrame>().Partition, all.As<SubscribeFrame>().Member)
        );
        Assert.Equal((uint)Credit, (await connection.ReadAsync(FrameType.Credit)).As<CreditFrame>().Bytes);
        await connection.WriteAsync(
            new ClosedFrame(ErrorCode.UnknownPartition, "several"),
            all.Header.Stream,
            all.Header.Tag
        );
        uint[] streams = new uint[partitions];
        uint member = 0;
        long granted = 0;
        for (uint partition = 0; partition < partitions; partition++)
        {
            FakeFrame subscribe = await connection.ReadAsync(FrameType.Subscribe);
            SubscribeFrame body = subscribe.As<SubscribeFrame>();
            Assert.Equal(partition, body.Partition);
            Assert.NotEqual(0u, body.Member);
            Assert.Equal(partition == 0 ? body.Member : member, body.Member);
            (member, streams[partition]) = (body.Member, subscribe.Header.Stream);
            granted += (await connection.ReadAsync(FrameType.Credit)).As<CreditFrame>().Bytes;
            await connection.WriteAsync(
                new SubscribedFrame(Guid.Empty, partitions, 5, 3, 0, 0, 0),
                subscribe.Header.Stream,
                subscribe.Header.Tag
            );
            if (partition == 0)
                granted += (await connection.ReadAsync(FrameType.Credit)).As<CreditFrame>().Bytes;
        }
        Assert.Equal(Credit, granted);
        return streams;
    }

    [Fact]
    public async Task A_processor_says_which_partition_is_refused()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using LightQProcessor processor = client.CreateProcessor("orders", "billing");
        processor.ProcessMessageAsync += static _ => Task.CompletedTask;
        Task starting = processor.StartAsync(Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        FakeFrame all = await SubscribeOfAsync(connection);
        await connection.WriteAsync(
            new ClosedFrame(ErrorCode.UnknownPartition, "several"),
            all.Header.Stream,
            all.Header.Tag
        );
        uint[] streams = new uint[2];
        for (uint partition = 0; partition < streams.Length; partition++)
        {
            FakeFrame subscribe = await SubscribeOfAsync(connection);
            streams[partition] = subscribe.Header.Stream;
            await connection.WriteAsync(
                new SubscribedFrame(Guid.Empty, 2, 5, 3, 0, 0, 0),
                subscribe.Header.Stream,
                subscribe.Header.Tag
            );
        }
        await starting;
        Assert.Null(processor.Failure);
        var refused = new TaskCompletionSource();
        client.PartitionRefused += (_, _) => refused.TrySetResult();

        await connection.WriteAsync(new ClosedFrame(ErrorCode.TopicFailed, "its disk"), streams[1]);

        await refused.Task.WaitAsync(Cancel);
        Assert.Equal("partition 1 is refused (TopicFailed): its disk", processor.Failure?.Message);
    }

    /// <summary>The next one, whatever else a processor says in between.</summary>
    private static async Task<FakeFrame> SubscribeOfAsync(FakeConnection connection)
    {
        while (true)
        {
            FakeFrame? frame = await connection.ReadAnyAsync();
            if (frame!.Header.Type == FrameType.Subscribe)
                return frame;
        }
    }

    private static byte[] Text(long offset, params string[] bodies) =>
        FakeConnection.Batch(offset, [.. bodies.Select(Encoding.UTF8.GetBytes)]);
}
