using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>Locks and the clock of the machine, which somebody may set.</summary>
public sealed class LockClockTests
{
    private const uint LockMilliseconds = 30_000;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task A_step_of_the_wall_clock_takes_no_lock_away_and_makes_none_longer(int hours)
    {
        var clock = new SteppedClock();
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { TimeProvider = clock });
        await using MessageConsumer consumer = client.CreateConsumer(
            "orders",
            new() { Group = "billing", SettleMode = SettleMode.Explicit }
        );
        Task<IReadOnlyList<Message>> fetch = FetchAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            new GroupDelivery(40, 3, 1, 1, LockMilliseconds),
            FakeConnection.Batch(40, "a"u8.ToArray(), "b"u8.ToArray(), "c"u8.ToArray())
        );
        Assert.Equal(40, Assert.Single(await fetch).Offset);

        clock.Step = TimeSpan.FromHours(hours);

        Assert.Equal(41, Assert.Single(await FetchAsync()).Offset);
        clock.Ahead = TimeSpan.FromMilliseconds(LockMilliseconds);
        fetch = FetchAsync();
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            new GroupDelivery(50, 1, 2, 1, LockMilliseconds),
            FakeConnection.Batch(50, "d"u8.ToArray())
        );
        Assert.Equal(50, Assert.Single(await fetch).Offset);

        Task<IReadOnlyList<Message>> FetchAsync() =>
            consumer.FetchAsync(1, TimeSpan.FromMinutes(1), cancellationToken: Cancel);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_batch_whose_first_lock_ran_out_unseen_is_looked_at_for_the_next(bool isDamaged)
    {
        var clock = new SteppedClock();
        var gaps = new List<MessageGap>();
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { TimeProvider = clock });
        await using MessageConsumer consumer = client.CreateConsumer(
            "orders",
            new()
            {
                Group = "billing",
                SettleMode = SettleMode.Explicit,
                OnGap = gaps.Add,
            }
        );
        Assert.Empty(await consumer.FetchAsync(1, TimeSpan.Zero, cancellationToken: Cancel));
        using FakeConnection connection = await broker.AcceptAsync();
        uint stream = (await connection.SubscribeAsync()).Subscribe.Header.Stream;
        Task<IReadOnlyList<Message>> fetch = consumer.FetchAsync(1, Patience, cancellationToken: Cancel);
        await connection.DeliverAsync(
            stream,
            new GroupDelivery(39, 1, 1, 1, LockMilliseconds),
            FakeConnection.Batch(39, "a"u8.ToArray())
        );
        Assert.Equal(39, Assert.Single(await fetch).Offset);

        byte[] batch = FakeConnection.Batch(40, "b"u8.ToArray(), "c"u8.ToArray());
        if (isDamaged)
            batch[batch.AsSpan().LastIndexOf((byte)'c')] = (byte)'x';
        await connection.DeliverAsync(stream, new GroupDelivery(40, 1, 2, 1, LockMilliseconds), batch);
        await connection.DeliverAsync(stream, new GroupDelivery(41, 1, 3, 1, 2 * LockMilliseconds), []);
        await connection.WriteAsync(new PingFrame(1));
        while ((await connection.ReadAnyAsync())!.Header.Type != FrameType.Pong)
        {
            // Then both are here, and nobody has looked at them.
        }
        clock.Ahead = TimeSpan.FromMilliseconds(LockMilliseconds);

        IReadOnlyList<Message> left = await consumer.FetchAsync(1, TimeSpan.Zero, cancellationToken: Cancel);
        Assert.Equal(isDamaged ? [] : ["c"], left.Select(m => m.GetText()));
        Assert.Equal(isDamaged ? [GapReason.Corrupt] : [], gaps.Select(g => g.Reason));
    }

    /// <summary>A wall clock that can be set, beside a monotonic one that can only run faster.</summary>
    private sealed class SteppedClock : TimeProvider
    {
        public TimeSpan Step { get; set; }

        public TimeSpan Ahead { get; set; }

        public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + Step;

        public override long GetTimestamp() => System.GetTimestamp() + (long)(Ahead.TotalSeconds * TimestampFrequency);
    }
}
