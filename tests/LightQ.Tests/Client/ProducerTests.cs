using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class ProducerTests
{
    private static readonly byte[] Hundred = new byte[100];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_publish_completes_with_the_offset_of_its_ack()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<FakeConnection> accepting = broker.AcceptAsync();
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await accepting;
        FakeFrame open = await connection.OpenProducerAsync();
        await using Producer producer = await creating;

        Assert.Equal("orders", open.As<OpenProducerFrame>().Topic);
        ValueTask<PublishAck> publishing = producer.PublishAsync("hello"u8, key: "42", cancellationToken: Cancel);
        FakeBatch batch = await connection.ReadBatchAsync();
        Assert.Equal(["hello"], batch.Bodies);
        Assert.Equal(["42"], batch.Keys);
        await connection.AckAsync(batch.Stream, batch.Ack(77));

        Assert.Equal(new PublishAck(77, 1, Durability.Memory, 0), await publishing);
    }

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task What_is_published_while_a_send_is_under_way_goes_out_as_one_batch_per_send_and_in_order(
        ReceiveMode mode
    )
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { ReceiveMode = mode });
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client);
        using FakeConnection _ = connection;
        var acks = new List<Task<PublishAck>>();
        for (int i = 0; i < 2000; i++)
        {
            acks.Add(
                producer
                    .PublishAsync(System.Text.Encoding.UTF8.GetBytes($"m{i}").AsSpan(), cancellationToken: Cancel)
                    .AsTask()
            );
        }

        int seen = 0,
            batches = 0;
        while (seen < acks.Count)
        {
            FakeBatch batch = await connection.ReadBatchAsync();
            Assert.Equal((ulong)seen, batch.BaseSequence);
            Assert.All(batch.Bodies, body => Assert.Equal($"m{seen++}", body));
            await connection.AckAsync(batch.Stream, batch.Ack(1000 + (long)batch.BaseSequence));
            batches++;
        }
        PublishAck[] all = await Task.WhenAll(acks);

        Assert.Equal(Enumerable.Range(1000, 2000).Select(i => (long)i), all.Select(a => a.Offset));
        Assert.True(batches < 1000, $"{batches} batches for 2,000 messages");
    }

    [Fact]
    public async Task TryPublish_answers_false_when_the_window_is_full_and_true_again_after_a_credit()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        const int Window = 8 * 1024;
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            Window,
            new ProducerOptions { BatchBytes = 1024 }
        );
        using FakeConnection _ = connection;
        int published = 0;
        while (producer.TryPublish(Hundred))
            published++;
        ValueTask room = producer.WaitForRoomAsync(Cancel);
        Assert.False(room.IsCompleted);

        int received = 0,
            bytes = 0;
        while (received < published)
        {
            FakeBatch batch = await connection.ReadBatchAsync();
            received += batch.Bodies.Length;
            bytes += batch.Length;
            Assert.True(bytes <= Window, $"{bytes} bytes were sent into a window of {Window}");
        }
        await connection.WriteAsync(new CreditFrame((uint)bytes), 1);
        await room;
        Assert.True(producer.TryPublish(Hundred));
        Assert.Single((await connection.ReadBatchAsync()).Bodies);
    }

    [Fact]
    public async Task A_batch_longer_than_the_window_is_sent_when_nothing_else_is_outstanding()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            window: 1024,
            new ProducerOptions { BatchBytes = 1024 }
        );
        using FakeConnection _ = connection;
        string large = new('x', 5000);
        Assert.True(producer.TryPublish(System.Text.Encoding.UTF8.GetBytes(large)));
        Assert.False(producer.TryPublish("second"u8));

        FakeBatch batch = await connection.ReadBatchAsync();
        Assert.Equal([large], batch.Bodies);
        await connection.WriteAsync(new CreditFrame((uint)batch.Length), batch.Stream);
        await connection.AckAsync(batch.Stream, batch.Ack(0));
        await producer.FlushAsync(Cancel);
        Assert.True(producer.TryPublish("second"u8));
    }

    [Fact]
    public async Task A_publish_that_finds_no_room_is_sent_in_its_turn_once_there_is()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            window: 1024,
            new ProducerOptions { BatchBytes = 1024 }
        );
        using FakeConnection _ = connection;
        var acks = new List<Task<PublishAck>>();
        for (int i = 0; i < 100; i++)
            acks.Add(producer.PublishAsync(Hundred.AsSpan(), cancellationToken: Cancel).AsTask());
        Assert.False(producer.TryPublish(Hundred));

        int received = 0;
        while (received < acks.Count)
        {
            FakeBatch batch = await connection.ReadBatchAsync();
            Assert.True(batch.Length <= 1024);
            received += batch.Bodies.Length;
            await connection.WriteAsync(new CreditFrame((uint)batch.Length), batch.Stream);
            await connection.AckAsync(batch.Stream, batch.Ack((long)batch.BaseSequence));
        }
        Assert.Equal(Enumerable.Range(0, 100).Select(i => (long)i), (await Task.WhenAll(acks)).Select(a => a.Offset));
    }

    [Fact]
    public async Task A_built_batch_is_acknowledged_as_a_whole_and_its_builder_is_empty_again()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client);
        using FakeConnection _ = connection;
        using BatchBuilder builder = producer.CreateBatch();
        Assert.True(builder.TryAdd("a"u8));
        Assert.True(builder.TryAdd("b"u8, key: "k"));
        ValueTask<PublishAck> publishing = producer.PublishAsync(builder, Cancel);
        Assert.Equal(0, builder.Count);
        Assert.True(builder.TryAdd("c"u8));

        FakeBatch batch = await connection.ReadBatchAsync();
        Assert.Equal(["a", "b"], batch.Bodies);
        await connection.AckAsync(batch.Stream, batch.Ack(10));
        Assert.Equal(new PublishAck(10, 2, Durability.Memory, 0), await publishing);

        Assert.True(producer.TryPublish(builder));
        batch = await connection.ReadBatchAsync();
        Assert.Equal(["c"], batch.Bodies);
        Assert.Equal(2ul, batch.BaseSequence);
    }

    [Fact]
    public async Task A_builder_takes_messages_until_its_batch_is_full()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client);
        using FakeConnection _ = connection;
        using BatchBuilder builder = producer.CreateBatch();
        while (builder.TryAdd(Hundred)) { }
        Assert.Equal((64 * 1024 - 96) / 108, builder.Count);
        Assert.True(producer.TryPublish(builder));
        Assert.Equal((64 * 1024 - 96) / 108, (await connection.ReadBatchAsync()).Bodies.Length);
    }

    [Fact]
    public async Task An_error_fails_its_messages_with_its_code_and_those_behind_with_StreamBroken_then_the_stream_reopens()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client);
        using FakeConnection _ = connection;
        Task<PublishAck> first = producer.PublishAsync("first"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch1 = await connection.ReadBatchAsync();
        Task<PublishAck> second = producer.PublishAsync("second"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch2 = await connection.ReadBatchAsync();
        await connection.AckAsync(
            batch1.Stream,
            new AckRange(0, 1, ErrorCode.DiskFull, -1),
            new AckRange(1, 1, ErrorCode.StreamBroken, -1)
        );

        Assert.Equal(ErrorCode.DiskFull, (await Assert.ThrowsAsync<LightQException>(() => first)).Code);
        LightQException behind = await Assert.ThrowsAsync<LightQException>(() => second);
        Assert.Equal(ErrorCode.StreamBroken, behind.Code);
        Assert.Contains("disk", behind.Message, StringComparison.OrdinalIgnoreCase); // Why the first was refused.
        await connection.ReadAsync(FrameType.Close);
        FakeFrame reopened = await connection.OpenProducerAsync();
        Assert.NotEqual(batch2.Stream, reopened.Header.Stream);
        Task<PublishAck> third = producer.PublishAsync("third"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch3 = await connection.ReadBatchAsync();
        Assert.Equal((reopened.Header.Stream, 0ul), (batch3.Stream, batch3.BaseSequence));
        await connection.AckAsync(batch3.Stream, batch3.Ack(5));
        Assert.Equal(5, (await third).Offset);
    }

    [Fact]
    public async Task A_flush_throws_the_first_error_once()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client);
        using FakeConnection _ = connection;
        Assert.True(producer.TryPublish("lost"u8));
        FakeBatch batch = await connection.ReadBatchAsync();
        Task flushing = producer.FlushAsync(Cancel);
        Assert.False(flushing.IsCompleted);
        await connection.AckAsync(batch.Stream, new AckRange(0, 1, ErrorCode.DiskFull, -1));

        Assert.Equal(ErrorCode.DiskFull, (await Assert.ThrowsAsync<LightQException>(() => flushing)).Code);
        await producer.FlushAsync(Cancel);
        await connection.ReadAsync(FrameType.Close);
        await connection.OpenProducerAsync();
        Assert.True(producer.TryPublish("next"u8));
    }

    [Fact]
    public async Task A_message_that_is_larger_than_the_topic_takes_is_refused_at_once()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        byte[] largest = new byte[1024],
            larger = new byte[largest.Length + 1];
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            maxBatch: (uint)largest.Length + ProtocolLimits.BatchOverheadBytes
        );
        using FakeConnection _ = connection;
        using BatchBuilder builder = producer.CreateBatch();
        Assert.False(builder.TryAdd(larger));
        Assert.False(builder.TryAdd(largest, "k"));
        Assert.True(builder.TryAdd(largest));
        LightQException refused = Assert.Throws<LightQException>(() => producer.TryPublish(larger));
        Assert.Equal(
            (ErrorCode.MessageTooLarge, "The message has 1025 bytes of key, headers and body; orders takes 1024."),
            (refused.Code, refused.Message)
        );
        Assert.True(producer.TryPublish("begins a batch"u8));
        Assert.Throws<LightQException>(() => producer.TryPublish(larger));
        Assert.Throws<LightQException>(() => producer.TryPublish(largest, "k"));
        await Assert.ThrowsAsync<LightQException>(async () =>
            await producer.PublishAsync(larger, cancellationToken: Cancel)
        );
    }

    [Fact]
    public async Task A_cancelled_publish_ends_the_wait_and_leaves_the_link_usable()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client);
        using FakeConnection _ = connection;
        using var cancel = new CancellationTokenSource();
        Task<PublishAck> cancelled = producer.PublishAsync("a"u8, cancellationToken: cancel.Token).AsTask();
        FakeBatch first = await connection.ReadBatchAsync();
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);

        Task<PublishAck> next = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        FakeBatch second = await connection.ReadBatchAsync();
        await connection.AckAsync(first.Stream, first.Ack(0), second.Ack(1));
        Assert.Equal(1, (await next).Offset);
    }

    [Fact]
    public async Task A_continuation_may_block_on_a_later_message_of_its_own_batch()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            window: 1024,
            new ProducerOptions { BatchBytes = 1024 }
        );
        using FakeConnection _ = connection;
        Assert.True(producer.TryPublish(new byte[900]));
        Task<PublishAck>? second = null;
        Task<long> first = BlockOnAsync(producer.PublishAsync("a"u8, cancellationToken: Cancel), () => second!);
        second = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        FakeBatch filler = await connection.ReadBatchAsync();
        await connection.WriteAsync(new CreditFrame((uint)filler.Length), filler.Stream);
        FakeBatch both = await connection.ReadBatchAsync();
        Assert.Equal(["a", "b"], both.Bodies);
        await connection.AckAsync(filler.Stream, filler.Ack(0), both.Ack(1));

        Assert.Equal(2, await first);
    }

    [Fact]
    public async Task A_refused_open_surfaces_with_its_code()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<FakeConnection> accepting = broker.AcceptAsync();
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await accepting;
        FakeFrame open = await connection.ReadAsync(FrameType.OpenProducer);
        await connection.WriteAsync(
            new ClosedFrame(ErrorCode.UnknownTopic, "No topic is called orders."),
            open.Header.Stream,
            open.Header.Tag
        );

        LightQException e = await Assert.ThrowsAsync<LightQException>(() => creating);
        Assert.Equal((ErrorCode.UnknownTopic, "No topic is called orders.", false), (e.Code, e.Message, e.IsTransient));
    }

    [Fact]
    public async Task Disposing_the_client_completes_every_publish_and_flush()
    {
        using var broker = new FakeBroker();
        var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            window: 1024,
            new ProducerOptions { BatchBytes = 1024 }
        );
        using FakeConnection _ = connection;
        Task<PublishAck>[] publishes =
        [
            .. Enumerable
                .Range(0, 50)
                .Select(_ => producer.PublishAsync(Hundred.AsSpan(), cancellationToken: Cancel).AsTask()),
        ];
        Task flush = producer.FlushAsync(Cancel);
        await client.DisposeAsync();

        foreach (Task task in publishes)
        {
            Assert.Equal(
                ErrorCode.OutcomeUnknown,
                Unless(ErrorCode.Closed, (await Assert.ThrowsAsync<LightQException>(() => task)).Code)
            );
        }

        await Assert.ThrowsAsync<LightQException>(() => flush);
        Assert.Throws<LightQException>(() => producer.TryPublish("x"u8));
        await producer.DisposeAsync();
    }

    [Fact]
    public async Task A_named_producer_has_no_more_batches_unacknowledged_than_the_broker_says()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            options: new ProducerOptions { Name = "p" },
            producerId: 9,
            epoch: 1,
            batchWindow: 2
        );
        Task<PublishAck> a = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch first = await connection.ReadBatchAsync();
        Task<PublishAck> b = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        FakeBatch second = await connection.ReadBatchAsync();
        Task<PublishAck> c = producer.PublishAsync("c"u8, cancellationToken: Cancel).AsTask();

        Task ping = client.PingAsync(Cancel);
        FakeFrame frame = await connection.ReadAsync(FrameType.Ping); // And no batch in front of it.
        await connection.WriteAsync(new PongFrame(frame.As<PingFrame>().Payload));
        await ping;
        await connection.AckAsync(first.Stream, first.Ack(0));

        FakeBatch third = await connection.ReadBatchAsync();
        Assert.Equal((2ul, "c"), (third.BaseSequence, third.Bodies[0]));
        await connection.AckAsync(second.Stream, second.Ack(1), third.Ack(2));
        Assert.Equal([0L, 1L, 2L], (await Task.WhenAll(a, b, c)).Select(ack => ack.Offset));
        connection.Dispose();
    }

    internal static async Task<(Producer Producer, FakeConnection Connection)> OpenAsync(
        FakeBroker broker,
        LightQClient client,
        uint window = ProtocolLimits.DefaultPublishWindowBytes,
        ProducerOptions? options = null,
        ulong producerId = 0,
        uint epoch = 0,
        uint maxBatch = ProtocolLimits.DefaultBatchBytes,
        uint batchWindow = 0
    )
    {
        Task<FakeConnection> accepting = broker.AcceptAsync();
        Task<Producer> creating = client.CreateProducerAsync("orders", options, Cancel);
        FakeConnection connection = await accepting;
        await connection.OpenProducerAsync(window, producerId, epoch, maxBatch: maxBatch, batchWindow: batchWindow);
        return (await creating, connection);
    }

    private static async Task<long> BlockOnAsync(ValueTask<PublishAck> first, Func<Task<PublishAck>> second)
    {
        await first;
        return second().GetAwaiter().GetResult().Offset;
    }

    private static ErrorCode Unless(ErrorCode allowed, ErrorCode code) =>
        code == allowed ? ErrorCode.OutcomeUnknown : code;
}
