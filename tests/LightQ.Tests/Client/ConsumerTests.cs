using System.Text;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class ConsumerTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(ReceiveMode.Thread, ContinuationScheduling.ThreadPool)]
    [InlineData(ReceiveMode.Thread, ContinuationScheduling.Inline)]
    [InlineData(ReceiveMode.Async, ContinuationScheduling.ThreadPool)]
    public async Task Messages_come_in_order_with_their_offsets(ReceiveMode mode, ContinuationScheduling scheduling)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { ReceiveMode = mode });
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { Scheduling = scheduling }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> first = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, uint credit) = await connection.SubscribeAsync(nextOffset: 40);
        Assert.Equal(
            (StartKind.Latest, "orders"),
            (subscribe.As<SubscribeFrame>().Start, subscribe.As<SubscribeFrame>().Topic)
        );
        Assert.Equal((uint)ProtocolLimits.DefaultCreditBytes, credit);
        await connection.DeliverAsync(subscribe.Header.Stream, Text(40, "a", "b"), Text(42, "c"));

        Assert.True(await first);
        var seen = new List<string> { $"{messages.Current.Offset}{messages.Current.GetText()}" };
        for (int i = 0; i < 2; i++)
        {
            Assert.True(await messages.MoveNextAsync());
            seen.Add($"{messages.Current.Offset}{messages.Current.GetText()}");
        }
        ValueTask<bool> next = messages.MoveNextAsync();
        Assert.False(next.IsCompleted);
        await connection.DeliverAsync(subscribe.Header.Stream, Text(43, "d"));
        Assert.True(await next);
        seen.Add($"{messages.Current.Offset}{messages.Current.GetText()}");
        Assert.Equal(["40a", "41b", "42c", "43d"], seen);
        Assert.Equal(DateTimeOffset.UnixEpoch.AddSeconds(1), messages.Current.Timestamp);
        Assert.Equal(DateTimeOffset.UnixEpoch.AddSeconds(2), messages.Current.AppendTime);
    }

    [Fact]
    public async Task A_start_offset_inside_a_batch_skips_the_messages_before_it()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var options = new ConsumeOptions { Start = StartPosition.Offset(11) };
        await using var messages = client.ConsumeAsync("orders", options, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> message = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync(11);
        await connection.DeliverAsync(subscribe.Header.Stream, Text(10, "before", "wanted"));
        Assert.True(await message);
        Assert.Equal((11, "wanted"), (messages.Current.Offset, messages.Current.GetText()));

        await using var batches = client.ConsumeBatchesAsync("orders", options, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> batch = batches.MoveNextAsync();
        (subscribe, _) = await connection.SubscribeAsync(11);
        await connection.DeliverAsync(subscribe.Header.Stream, Text(10, "before", "wanted"));
        Assert.True(await batch);
        Assert.Equal((11, 1), (batches.Current.BaseOffset, batches.Current.Count));
        Assert.Equal("wanted", string.Concat(Bodies(batches.Current)));
    }

    [Fact]
    public async Task Credit_is_given_back_once_half_of_it_was_consumed()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var batches = client
            .ConsumeBatchesAsync("orders", new ConsumeOptions { CreditBytes = 4096 }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = batches.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, uint credit) = await connection.SubscribeAsync();
        Assert.Equal(4096u, credit);
        byte[] batch = FakeConnection.Batch(0, new byte[888]);
        Assert.Equal(992, batch.Length);
        for (int i = 0; i < 4; i++)
        {
            await connection.DeliverAsync(subscribe.Header.Stream, batch);
            Assert.True(await moved);
            moved = batches.MoveNextAsync();
        }
        Assert.Equal(3 * 992u, (await connection.ReadAsync(FrameType.Credit)).As<CreditFrame>().Bytes);
    }

    [Fact]
    public async Task A_gap_is_reported_between_the_messages_around_it()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var seen = new List<string>();
        client.GapDetected += (_, gap) => seen.Add($"event {gap.FirstOffset}-{gap.LastOffset}");
        var options = new ConsumeOptions
        {
            OnGap = gap => seen.Add($"gap {gap.FirstOffset}-{gap.LastOffset} {gap.Reason}"),
        };
        await using var messages = client.ConsumeAsync("orders", options, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, Text(0, "a"));
        await connection.WriteAsync(new GapFrame(1, 7, GapReason.Dropped), subscribe.Header.Stream);
        await connection.DeliverAsync(subscribe.Header.Stream, Text(8, "b"));
        for (int i = 0; i < 2; i++)
        {
            Assert.True(await moved);
            seen.Add(messages.Current.GetText());
            moved = messages.MoveNextAsync();
        }
        Assert.Equal(["a", "gap 1-7 Dropped", "event 1-7", "b"], seen);
    }

    [Fact]
    public async Task A_batch_whose_checksum_fails_is_a_gap()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        MessageGap? gap = null;
        var options = new ConsumeOptions { OnGap = g => gap = g };
        await using var messages = client.ConsumeAsync("orders", options, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        byte[] damaged = Text(5, "x", "y");
        damaged[^1] ^= 1;
        await connection.DeliverAsync(subscribe.Header.Stream, damaged, Text(7, "good"));

        Assert.True(await moved);
        Assert.Equal("good", messages.Current.GetText());
        Assert.Equal(new MessageGap("orders", 5, 6, GapReason.Corrupt), gap);
    }

    [Theory]
    [InlineData(GapReason.Corrupt, ErrorCode.CorruptData)]
    [InlineData(GapReason.Dropped, ErrorCode.SlowConsumer)]
    [InlineData(GapReason.Retention, ErrorCode.OffsetOutOfRange)]
    public async Task A_gap_ends_the_enumeration_when_that_is_asked_for(GapReason reason, ErrorCode code)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { GapAction = GapAction.Throw }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.WriteAsync(new GapFrame(1, 7, reason), subscribe.Header.Stream);
        LightQException e = await Assert.ThrowsAsync<LightQException>(async () => await moved);
        Assert.Equal(code, e.Code);
    }

    [Fact]
    public async Task Cancelling_a_wait_closes_the_subscription_and_leaves_the_link_usable()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        using var stop = new CancellationTokenSource();
        Task consuming = ConsumeAllAsync(client, stop.Token);
        using FakeConnection connection = await broker.AcceptAsync();
        await connection.SubscribeAsync();
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => consuming);

        await connection.ReadAsync(FrameType.Close);
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        await connection.OpenProducerAsync();
        await (await creating).DisposeAsync();
    }

    [Fact]
    public async Task A_subscription_that_the_broker_ends_throws_its_code_behind_what_was_delivered()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, Text(0, "last"));
        await connection.WriteAsync(new ClosedFrame(ErrorCode.SlowConsumer, "Too slow."), subscribe.Header.Stream);
        Assert.True(await moved);
        Assert.Equal("last", messages.Current.GetText());
        LightQException e = await Assert.ThrowsAsync<LightQException>(async () => await messages.MoveNextAsync());
        Assert.Equal((ErrorCode.SlowConsumer, "Too slow."), (e.Code, e.Message));
    }

    [Fact]
    public async Task Disposing_the_client_ends_a_waiting_enumeration()
    {
        using var broker = new FakeBroker();
        var client = new LightQClient(broker.Options);
        Task consuming = ConsumeAllAsync(client, Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        await connection.SubscribeAsync();
        await client.DisposeAsync();
        Assert.Equal(ErrorCode.Closed, (await Assert.ThrowsAsync<LightQException>(() => consuming)).Code);
    }

    [Fact]
    public async Task A_callback_that_throws_ends_its_subscription_and_nothing_else()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var options = new ConsumeOptions { OnSubscribed = _ => throw new InvalidOperationException("mine") };
        await using var messages = client.ConsumeAsync("orders", options, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        await connection.SubscribeAsync();
        LightQException e = await Assert.ThrowsAsync<LightQException>(async () => await moved);
        Assert.Equal("mine", e.InnerException!.Message);
        await messages.DisposeAsync();
        await connection.ReadAsync(FrameType.Close);
        Assert.Equal(ConnectionState.Connected, client.State);
    }

    [Fact]
    public async Task A_message_outlives_its_batch_with_key_and_headers()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();

        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        FakeFrame open = await connection.OpenProducerAsync();
        Producer producer = await creating;
        Assert.True(producer.TryPublish("body"u8, "key", new MessageHeaders { { "a", "1" }, { "b", "2" } }));
        FakeFrame publish = await connection.ReadAsync(FrameType.Publish);
        await connection.DeliverAsync(subscribe.Header.Stream, publish.Body, Text(1, "next"));

        Assert.True(await moved);
        Message kept = messages.Current;
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal(("body", "key", true), (kept.GetText(), Encoding.UTF8.GetString(kept.Key.Span), kept.HasKey));
        Assert.True(kept.TryGetHeader("b", out ReadOnlySpan<byte> value));
        Assert.Equal("2", Encoding.UTF8.GetString(value));
        Assert.False(kept.TryGetHeader("c", out _));
        Assert.False(messages.Current.HasKey);
        await connection.AckAsync(open.Header.Stream, new AckRange(0, 1, ErrorCode.None, 0));
    }

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task Memory_that_a_consumer_still_reads_is_never_overwritten(ReceiveMode mode)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { ReceiveMode = mode });
        await using var batches = client
            .ConsumeBatchesAsync("orders", new ConsumeOptions { VerifyChecksums = false }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = batches.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        Task delivering = DeliverManyAsync(connection, subscribe.Header.Stream, 400);

        for (int i = 0; i < 400; i++)
        {
            Assert.True(await moved);
            MessageBatch batch = batches.Current;
            Assert.Equal(i, batch.BaseOffset);
            // The content must hold for as long as the batch is the current one, whatever is received meanwhile.
            for (int look = 0; look < 3; look++)
            {
                foreach (RecordView record in batch)
                    Assert.Equal(-1, record.Body.IndexOfAnyExcept((byte)i));
                await Task.Yield();
            }
            moved = batches.MoveNextAsync();
        }
        await delivering;
    }

    private static async Task DeliverManyAsync(FakeConnection connection, uint stream, int count)
    {
        var random = new Random(7);
        long granted = ProtocolLimits.DefaultCreditBytes;
        for (int i = 0; i < count; i++)
        {
            byte[] body = new byte[random.Next(10) == 0 ? random.Next(300_000) : random.Next(40_000)];
            body.AsSpan().Fill((byte)i);
            byte[] batch = FakeConnection.Batch(i, body);
            while (granted <= 0)
                granted += (await connection.ReadAsync(FrameType.Credit)).As<CreditFrame>().Bytes;
            granted -= batch.Length;
            await connection.DeliverAsync(stream, batch);
        }
    }

    private static async Task ConsumeAllAsync(LightQClient client, CancellationToken cancellationToken)
    {
        await foreach (Message _ in client.ConsumeAsync("orders", cancellationToken: cancellationToken)) { }
    }

    private static List<string> Bodies(MessageBatch batch)
    {
        var bodies = new List<string>();
        foreach (RecordView record in batch)
            bodies.Add(Encoding.UTF8.GetString(record.Body));
        return bodies;
    }

    private static byte[] Text(long offset, params string[] bodies) =>
        FakeConnection.Batch(offset, [.. bodies.Select(Encoding.UTF8.GetBytes)]);
}
