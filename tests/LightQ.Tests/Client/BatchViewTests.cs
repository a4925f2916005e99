using System.Reflection;
using LightQ.Client;
using LightQ.Client.Consuming;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>Batches are views of memory that is used again: a view that is over throws, whatever it is asked.</summary>
public sealed class BatchViewTests
{
    /// <summary>How each member of a batch, and of all that it leads to, is asked.</summary>
    private static readonly Dictionary<string, Use> Members = new()
    {
        ["MessageBatch.Partition"] = v => _ = v.Batch.Partition,
        ["MessageBatch.BaseOffset"] = v => _ = v.Batch.BaseOffset,
        ["MessageBatch.Count"] = v => _ = v.Batch.Count,
        ["MessageBatch.Timestamp"] = v => _ = v.Batch.Timestamp,
        ["MessageBatch.AppendTime"] = v => _ = v.Batch.AppendTime,
        ["MessageBatch.Bytes"] = v => _ = v.Batch.Bytes,
        ["MessageBatch.DeliveryCount"] = v => _ = v.Batch.DeliveryCount,
        ["MessageBatch.LockedUntil"] = v => _ = v.Batch.LockedUntil,
        ["MessageBatch.QueueCompletion/0"] = v => v.Batch.QueueCompletion(),
        ["MessageBatch.CompleteAsync/1"] = v => _ = v.Batch.CompleteAsync(Cancel).AsTask(),
        ["MessageBatch.CompleteAsync/2"] = v => _ = v.Batch.CompleteAsync(1, Cancel).AsTask(),
        ["MessageBatch.AbandonAsync/3"] = v => _ = v.Batch.AbandonAsync(cancellationToken: Cancel).AsTask(),
        ["MessageBatch.DeadLetterAsync/2"] = v => _ = v.Batch.DeadLetterAsync("bad", Cancel).AsTask(),
        ["MessageBatch.RenewLockAsync/1"] = v => _ = v.Batch.RenewLockAsync(Cancel).AsTask(),
        ["MessageBatch.GetEnumerator/0"] = v => _ = v.Batch.GetEnumerator(),
        ["MessageBatchEnumerator.Current"] = v => _ = v.Messages.Current,
        ["MessageBatchEnumerator.MoveNext/0"] = v => _ = v.Messages.MoveNext(),
        ["RecordView.Offset"] = v => _ = v.Record.Offset,
        ["RecordView.Body"] = v => _ = v.Record.Body,
        ["RecordView.Key"] = v => _ = v.Record.Key,
        ["RecordView.HeaderBytes"] = v => _ = v.Record.HeaderBytes,
        ["RecordView.HasKey"] = v => _ = v.Record.HasKey,
        ["RecordView.IsTombstone"] = v => _ = v.Record.IsTombstone,
        ["RecordView.Headers"] = v => _ = v.Record.Headers,
        ["HeaderEnumerator.Current"] = v => _ = v.Headers.Current,
        ["HeaderEnumerator.MoveNext/0"] = v => _ = v.Headers.MoveNext(),
        ["HeaderEnumerator.GetEnumerator/0"] = v => _ = v.Headers.GetEnumerator(),
        ["HeaderView.Name"] = v => _ = v.Header.Name,
        ["HeaderView.WellKnownId"] = v => _ = v.Header.WellKnownId,
        ["HeaderView.Value"] = v => _ = v.Header.Value,
    };

    private delegate void Use(Views views);

    public static TheoryData<string> Names => [.. Members.Keys];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public void No_public_member_is_forgotten_here()
    {
        const BindingFlags Declared = BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly;
        Type[] types =
        [
            typeof(MessageBatch),
            typeof(MessageBatchEnumerator),
            typeof(RecordView),
            typeof(HeaderEnumerator),
            typeof(HeaderView),
        ];
        Assert.Equal(
            types
                .SelectMany(type =>
                    type.GetProperties(Declared)
                        .Select(p => $"{type.Name}.{p.Name}")
                        .Concat(
                            type.GetMethods(Declared)
                                .Where(m => !m.IsSpecialName)
                                .Select(m => $"{type.Name}.{m.Name}/{m.GetParameters().Length}")
                        )
                )
                .Order(StringComparer.Ordinal),
            Members.Keys.Order(StringComparer.Ordinal)
        );
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Each_member_answers_until_its_batch_is_over_and_then_throws(string member)
    {
        var clock = new ViewClock();
        var views = new Views(clock.Begin());
        Members[member](views);
        clock.EndAll();
        AssertOver(Members[member], views);
        clock.EndAll();
        AssertOver(Members[member], views);
    }

    [Fact]
    public async Task A_batch_is_over_when_the_next_is_asked_for_or_the_enumeration_ends()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        using var stop = new CancellationTokenSource();
        IAsyncEnumerator<MessageBatch> batches = client
            .ConsumeBatchesAsync("orders", cancellationToken: stop.Token)
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Task<bool> moved = batches.MoveNextAsync().AsTask();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        uint stream = subscribe.Header.Stream;
        await connection.DeliverAsync(stream, Text(0, "first"), Text(1, "second"), Text(2, "third"));

        // It came with the one before, in the same memory.
        MessageBatch first = await NextAsync(moved);
        MessageBatch second = await NextAsync(batches.MoveNextAsync().AsTask());
        AssertOver(first);
        Assert.Equal(1, second.BaseOffset);
        MessageBatch third = await NextAsync(batches.MoveNextAsync().AsTask());
        AssertOver(second);
        Assert.Equal(2, third.BaseOffset);

        // None is there: the one before is over all the same.
        moved = batches.MoveNextAsync().AsTask();
        Assert.False(moved.IsCompleted);
        AssertOver(third);
        AssertOver(batches.Current);
        await connection.DeliverAsync(stream, Text(3, "fourth"));
        MessageBatch fourth = await NextAsync(moved);
        moved = batches.MoveNextAsync().AsTask();
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await moved);
        AssertOver(fourth);
        AssertOver(batches.Current);
        await batches.DisposeAsync();

        async Task<MessageBatch> NextAsync(Task<bool> moving)
        {
            Assert.True(await moving);
            return batches.Current;
        }
    }

    [Fact]
    public async Task Leaving_the_loop_ends_the_last_batch()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var options = new ConsumeOptions { Filter = MessageFilter.Parse("not exists(type)") };
        MessageBatch kept = default;
        Task consuming = ConsumeAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, Text(0, "first"));
        await consuming;
        AssertOver(kept);

        async Task ConsumeAsync()
        {
            await foreach (MessageBatch batch in client.ConsumeBatchesAsync("orders", options, Cancel))
            {
                kept = batch;
                Assert.Equal(1, batch.Count);
                break;
            }
        }
    }

    private static void AssertOver(MessageBatch batch)
    {
        Assert.Contains(
            "The batch is over",
            Assert.Throws<InvalidOperationException>(() => batch.BaseOffset).Message,
            StringComparison.Ordinal
        );
        Assert.Throws<InvalidOperationException>(() => batch.Bytes.Length);
        Assert.Throws<InvalidOperationException>(batch.QueueCompletion);
    }

    private static void AssertOver(Use use, Views views)
    {
        try
        {
            use(views);
        }
        catch (InvalidOperationException e)
        {
            Assert.Contains("The batch is over", e.Message, StringComparison.Ordinal);
            return;
        }
        Assert.Fail("It answered.");
    }

    private static byte[] Text(long offset, params string[] bodies) =>
        FakeConnection.Batch(offset, [.. bodies.Select(System.Text.Encoding.UTF8.GetBytes)]);

    /// <summary>A batch, its message, and the header of that.</summary>
    private readonly ref struct Views
    {
        public Views(ViewLife life)
        {
            var headers = new MessageHeaders { { "type", "order" } };
            byte[] memory = MadeMessage.Write("body"u8, "key", headers, 7, DateTimeOffset.UnixEpoch, null, out _);
            Batch = new MessageBatch(memory, 0, memory.Length, 0, 1, 2, MadeMessage.Lock(3, null), null, life);
            MessageBatchEnumerator messages = Batch.GetEnumerator();
            Assert.True(messages.MoveNext());
            Messages = messages;
            Record = messages.Current;
            HeaderEnumerator all = Record.Headers;
            Assert.True(all.MoveNext());
            Headers = all;
            Header = all.Current;
        }

        public MessageBatch Batch { get; }

        public MessageBatchEnumerator Messages { get; }

        public RecordView Record { get; }

        public HeaderEnumerator Headers { get; }

        public HeaderView Header { get; }
    }
}
