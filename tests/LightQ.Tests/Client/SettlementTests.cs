using System.Text;
using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class SettlementTests
{
    private static readonly ConsumeOptions Explicit = new() { SettleMode = SettleMode.Explicit };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task Every_completed_message_is_in_one_receipt_and_all_come_before_the_close(ReceiveMode mode)
    {
        const int Messages = 1000;
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { ReceiveMode = mode });
        var messages = client.ConsumeAsync("orders", Explicit, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> first = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        Assert.Equal(SettleMode.Explicit, subscribe.As<SubscribeFrame>().SettleMode);
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            FakeConnection.Batch(0, [.. Enumerable.Range(0, Messages).Select(_ => "x"u8.ToArray())])
        );
        Assert.True(await first);
        for (int i = 0; i < Messages; i++)
        {
            messages.Current.QueueCompletion();
            if (i < Messages - 1)
                Assert.True(await messages.MoveNextAsync());
        }
        await messages.DisposeAsync();

        long next = 0;
        while (await connection.ReadAnyAsync() is { } frame && frame.Header.Type != FrameType.Close)
        {
            foreach (SettleRange range in Read(frame))
            {
                Assert.Equal((SettleKind.Complete, 0u, next), (range.Kind, range.DeliveryId, range.FirstOffset));
                next += range.Count;
            }
            Assert.Equal((subscribe.Header.Stream, 0u), (frame.Header.Stream, frame.Header.Tag));
        }
        Assert.Equal(Messages, next);
    }

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task Receipts_wait_a_while_for_each_other(ReceiveMode mode)
    {
        var time = new ManualTime();
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { ReceiveMode = mode, TimeProvider = time });
        (FakeConnection connection, IAsyncEnumerator<MessageBatch> batches, uint stream) = await ReceiveAsync(
            broker,
            client
        );
        using FakeConnection c = connection;
        await using IAsyncEnumerator<MessageBatch> b = batches;
        for (uint round = 0; round < 2; round++)
        {
            long first = 40 + (4 * round);
            if (round > 0)
                await TakeAsync(first, "a", "b");
            batches.Current.QueueCompletion();
            await TakeAsync(first + 2, "c", "d");
            batches.Current.QueueCompletion();

            time.Advance(TimeSpan.FromMilliseconds(20));

            Assert.Equal(
                [new SettleRange(SettleKind.Complete, 0, first, 4)],
                Read(await connection.ReadAsync(FrameType.Settle))
            );
        }

        async Task TakeAsync(long offset, params string[] bodies)
        {
            await connection.DeliverAsync(stream, Text(offset, bodies));
            Assert.True(await batches.MoveNextAsync());
        }
    }

    [Fact]
    public async Task Completion_is_awaited_until_the_broker_answers()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (FakeConnection connection, IAsyncEnumerator<MessageBatch> batches, uint stream) = await ReceiveAsync(
            broker,
            client
        );
        using FakeConnection c = connection;
        await using IAsyncEnumerator<MessageBatch> b = batches;

        ValueTask<SettleOutcome> done = batches.Current.CompleteAsync(Cancel);
        FakeFrame settle = await connection.ReadAsync(FrameType.Settle);
        Assert.Equal([new SettleRange(SettleKind.Complete, 0, 40, 2)], Read(settle));
        Assert.False(done.IsCompleted);
        await AnswerAsync(connection, stream, settle.Header.Tag, SettleOutcome.Done);
        Assert.Equal(SettleOutcome.Done, await done);

        ValueTask<SettleOutcome> again = batches.Current.CompleteAsync(Cancel);
        settle = await connection.ReadAsync(FrameType.Settle);
        await AnswerAsync(connection, stream, settle.Header.Tag, SettleOutcome.Unknown);
        Assert.Equal(SettleOutcome.Unknown, await again);
    }

    [Fact]
    public async Task A_lost_connection_leaves_the_outcome_unknown_and_its_messages_cannot_be_completed_on_the_next()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (FakeConnection connection, IAsyncEnumerator<MessageBatch> batches, _) = await ReceiveAsync(broker, client);
        await using IAsyncEnumerator<MessageBatch> b = batches;
        ValueTask<SettleOutcome> done = batches.Current.CompleteAsync(Cancel);
        await connection.ReadAsync(FrameType.Settle);

        connection.Dispose();

        Assert.Equal(
            ErrorCode.OutcomeUnknown,
            (await Assert.ThrowsAsync<LightQException>(async () => await done)).Code
        );
        using FakeConnection next = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await next.SubscribeAsync(nextOffset: 42);
        Assert.Equal(SettleMode.Explicit, subscribe.As<SubscribeFrame>().SettleMode);
        batches.Current.QueueCompletion(); // Nobody hears of it.
        Assert.Equal(
            ErrorCode.Closed,
            (await Assert.ThrowsAsync<LightQException>(async () => await batches.Current.CompleteAsync(Cancel))).Code
        );

        await next.DeliverAsync(subscribe.Header.Stream, Text(42, "c"));
        Assert.True(await batches.MoveNextAsync());
        batches.Current.QueueCompletion();
        Assert.Equal([new SettleRange(SettleKind.Complete, 0, 42, 1)], Read(await next.ReadAsync(FrameType.Settle)));
    }

    [Fact]
    public async Task A_receipt_the_broker_refuses_unasked_harms_nothing()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (FakeConnection connection, IAsyncEnumerator<MessageBatch> batches, uint stream) = await ReceiveAsync(
            broker,
            client
        );
        using FakeConnection c = connection;
        await using IAsyncEnumerator<MessageBatch> b = batches;
        await AnswerAsync(connection, stream, 0, SettleOutcome.Unknown);
        await AnswerAsync(connection, stream, 1234, SettleOutcome.Unknown);

        await connection.DeliverAsync(stream, Text(42, "c"));

        Assert.True(await batches.MoveNextAsync());
        Assert.Equal(42, batches.Current.BaseOffset);
    }

    [Fact]
    public async Task A_subscription_that_settles_by_itself_has_nothing_to_complete()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (FakeConnection connection, IAsyncEnumerator<MessageBatch> batches, _) = await ReceiveAsync(
            broker,
            client,
            new ConsumeOptions()
        );
        using FakeConnection c = connection;
        await using IAsyncEnumerator<MessageBatch> b = batches;

        Assert.Contains(
            "SettleMode",
            Assert.Throws<InvalidOperationException>(() => batches.Current.QueueCompletion()).Message,
            StringComparison.Ordinal
        );
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await batches.Current.CompleteAsync(Cancel));
    }

    private static async Task<(
        FakeConnection Connection,
        IAsyncEnumerator<MessageBatch> Batches,
        uint Stream
    )> ReceiveAsync(FakeBroker broker, LightQClient client, ConsumeOptions? options = null)
    {
        IAsyncEnumerator<MessageBatch> batches = client
            .ConsumeBatchesAsync("orders", options ?? Explicit)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> first = batches.MoveNextAsync();
        FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync(nextOffset: 40);
        await connection.DeliverAsync(subscribe.Header.Stream, Text(40, "a", "b"));
        Assert.True(await first);
        return (connection, batches, subscribe.Header.Stream);
    }

    private static byte[] Text(long offset, params string[] bodies) =>
        FakeConnection.Batch(offset, [.. bodies.Select(Encoding.UTF8.GetBytes)]);

    private static List<SettleRange> Read(FakeFrame settle)
    {
        Assert.Equal(FrameType.Settle, settle.Header.Type);
        var frame = new SettleFrame(settle.Body);
        var ranges = new List<SettleRange>();
        for (int i = 0; i < frame.Count; i++)
            ranges.Add(frame[i]);
        return ranges;
    }

    private static Task AnswerAsync(FakeConnection connection, uint stream, uint tag, SettleOutcome outcome)
    {
        byte[] frame = new byte[SettledFrame.SizeOf(1)];
        SettledFrame.Write(frame, stream, tag, [new SettledRange(outcome, 0, 40, 2)]);
        return connection.WriteRawAsync(frame);
    }
}
