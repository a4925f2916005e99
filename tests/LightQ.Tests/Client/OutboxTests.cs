using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Client.Consuming;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>When receipts are sent, by a sender that is driven by hand.</summary>
public sealed class OutboxTests
{
    private const uint Stream = 7;
    private static readonly TimeSpan Delay = TimeSpan.FromMilliseconds(20);
    private readonly ManualTime _time = new();
    private readonly DrivenOutbox _outbox;
    private readonly Settlements _settlements;

    public OutboxTests()
    {
        _outbox = new DrivenOutbox(_time);
        var place = new OperationPlace(new LightQClientOptions(), "t", 0);
        _settlements = new Settlements(
            _outbox,
            new PendingSettlements(Stream),
            "t",
            isGroup: false,
            new ConsumeOperations(place)
        );
    }

    [Fact]
    public void What_was_sent_before_messages_went_back_is_passed_until_the_broker_has_sent_more()
    {
        _outbox.Write(new PingFrame(1));
        var completions = new PendingSettlements(Stream, isNoted: true);
        using var locks = new HeldLocks(_outbox, completions, _time, new IdleLoop());
        var settlements = new Settlements(
            _outbox,
            completions,
            "t",
            isGroup: true,
            new ConsumeOperations(new OperationPlace(new LightQClientOptions(), "t", 0))
        )
        {
            Locks = locks,
            CanReturn = true,
        };
        Deliver(1);
        Assert.False(settlements.IsPassed(1));

        settlements.GiveBack(new SettleRange(SettleKind.Return, 1, 0, 1));
        Deliver(2);
        Assert.True(settlements.IsPassed(1));
        byte[] answer = new byte[SettledFrame.SizeOf(1)];
        SettledFrame.Write(answer, Stream, HeldLocks.ReturnTag, [new SettledRange(SettleOutcome.Done, 1, 0, 1)]);
        settlements.OnSettled(HeldLocks.ReturnTag, new SettledFrame(answer.AsSpan(FrameHeader.Size)));
        Deliver(3);

        Assert.True(settlements.IsPassed(2));
        Assert.False(settlements.IsPassed(3));

        void Deliver(uint id) => locks.Add(new GroupDelivery(id, 1, id, 1, 30_000));
    }

    [Fact]
    public void A_receipt_waits_while_something_is_being_sent_and_after_that()
    {
        _outbox.Write(new PingFrame(1));
        Assert.Equal([FrameType.Ping], _outbox.BeginSend());
        _settlements.Complete(0, 0, 1);
        _settlements.Complete(0, 1, 1);
        _outbox.EndSend();
        Assert.False(_outbox.IsWoken);
        Assert.Null(_outbox.BeginSend());

        _time.Advance(Delay - TimeSpan.FromTicks(1));
        Assert.False(_outbox.IsWoken);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.True(_outbox.IsWoken);
        Assert.Equal([FrameType.Settle], _outbox.BeginSend());
        _outbox.EndSend();
        Assert.False(_outbox.IsWoken);
        Assert.Null(_outbox.BeginSend());
    }

    [Fact]
    public void A_receipt_that_is_due_while_something_is_being_sent_goes_right_behind_it()
    {
        _outbox.Write(new PingFrame(1));
        Assert.Equal([FrameType.Ping], _outbox.BeginSend());
        _settlements.Complete(0, 0, 1);
        _time.Advance(Delay);
        Assert.False(_outbox.IsWoken);
        _outbox.EndSend();
        Assert.True(_outbox.IsWoken);
        Assert.Equal([FrameType.Settle], _outbox.BeginSend());
    }

    [Fact]
    public void A_receipt_goes_with_what_is_sent_meanwhile()
    {
        _settlements.Complete(0, 0, 1);
        Assert.False(_outbox.IsWoken);
        _outbox.Write(new PingFrame(1));
        Assert.True(_outbox.IsWoken);
        Assert.Equal([FrameType.Settle, FrameType.Ping], _outbox.BeginSend());
        _outbox.EndSend();
        _time.Advance(2 * Delay);
        Assert.False(_outbox.IsWoken);
        Assert.Null(_outbox.BeginSend());
    }

    [Theory]
    [InlineData(5, 1)]
    [InlineData(PendingSettlements.Most, 1)]
    [InlineData((2 * PendingSettlements.Most) + 1, 3)]
    public void What_is_settled_out_of_order_travels_in_few_frames_each_once(int count, int frames)
    {
        var completions = new PendingSettlements(Stream, isNoted: true);
        using var locks = new HeldLocks(_outbox, completions, _time, new IdleLoop());
        var settlements = new Settlements(
            _outbox,
            completions,
            "t",
            isGroup: true,
            new ConsumeOperations(new OperationPlace(new LightQClientOptions(), "t", 0))
        )
        {
            Locks = locks,
        };
        HeldLock held = locks.Add(new GroupDelivery(0, (uint)count + 1, 1, 1, 30_000));
        locks.TryTake(held);
        held.Next = count + 1;

        for (int offset = count; offset > 0; offset--)
            settlements.Complete(1, offset, 1);

        Assert.Equal(1, locks.Open);
        Assert.True(locks.TryFindInHand(out _, out long first, out _));
        Assert.Equal(0, first);
        _outbox.Write(new PingFrame(1));
        Assert.Equal(
            [.. Enumerable.Repeat(FrameType.Settle, frames), FrameType.Ping],
            _outbox.BeginSend() ?? throw new InvalidOperationException("Nothing is sent.")
        );
        Assert.Equal(
            Enumerable.Range(1, count).Reverse().Select(offset => (1u, (long)offset, 1u)),
            _outbox.Settled.Select(r => (r.DeliveryId, r.FirstOffset, r.Count))
        );
    }

    [Theory]
    [InlineData("take")]
    [InlineData("extend")]
    [InlineData("hold")]
    [InlineData("held")]
    [InlineData("lose")]
    public void A_lock_that_was_found_to_have_run_out_is_not_kept_by_an_answer_that_comes_later(string look)
    {
        var time = new StarvedTime();
        var completions = new PendingSettlements(Stream, isNoted: true);
        using var locks = new HeldLocks(_outbox, completions, time, new IdleLoop());
        HeldLock held = locks.Add(new GroupDelivery(0, 1, 1, 1, 30_000));
        Assert.True(locks.TryTake(held));
        Assert.True(locks.TryExtend(1, TimeSpan.FromMinutes(5)));
        time.Pass(TimeSpan.FromSeconds(20));
        time.Fire(); // It is renewed, and nothing is heard of that for a while.
        time.Pass(TimeSpan.FromSeconds(11));

        if (look == "lose")
            locks.Lose(held);
        else
            Assert.False(Look());
        byte[] answer = new byte[SettledFrame.SizeOf(1)];
        SettledFrame.Write(answer, Stream, HeldLocks.RenewalTag, [new SettledRange(SettleOutcome.Done, 1, 0, 1)]);
        locks.OnAnswered(new SettledFrame(answer.AsSpan(FrameHeader.Size)));

        Assert.False(locks.IsHeld(1));
        Assert.Equal(0, locks.Open);

        bool Look() =>
            look switch
            {
                "take" => locks.TryTake(held),
                "extend" => locks.TryExtend(1, TimeSpan.FromMinutes(5)),
                "hold" => locks.TryHold(1, new NoHolder(), TimeSpan.FromMinutes(5)),
                _ => locks.IsHeld(1),
            };
    }

    [Fact]
    public void Each_range_of_an_answer_that_came_too_late_is_counted()
    {
        using var log = new RecordedLog();
        var settlements = new Settlements(
            _outbox,
            new PendingSettlements(Stream),
            "t",
            isGroup: true,
            new ConsumeOperations(new OperationPlace(new LightQClientOptions(), "t", 0))
        )
        {
            Late = new LateSettlements(log, _time, "t", "g"),
        };
        byte[] answer = new byte[SettledFrame.SizeOf(4)];
        SettledFrame.Write(
            answer,
            Stream,
            0,
            [
                new SettledRange(SettleOutcome.LockExpired, 1, 7, 1),
                new SettledRange(SettleOutcome.LockExpired, 1, 5, 1),
                new SettledRange(SettleOutcome.Unknown, 1, 3, 1),
                new SettledRange(SettleOutcome.LockExpired, 1, 1, 1),
            ]
        );

        SettledRange refused = settlements.OnSettled(0, new SettledFrame(answer.AsSpan(FrameHeader.Size)));

        Assert.Equal((SettleOutcome.Unknown, 3L), (refused.Outcome, refused.FirstOffset));
        Assert.Single(log.Lines); // Three in a row are said.
    }

    private sealed class NoHolder : ILockHolder
    {
        public void OnLockLost() { }
    }

    /// <summary>A clock whose timers come late, as on a machine that is busy.</summary>
    private sealed class StarvedTime : TimeProvider
    {
        private readonly List<(TimerCallback Callback, object? State)> _timers = [];
        private long _now = TimeSpan.TicksPerDay;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => _now;

        public void Pass(TimeSpan time) => _now += time.Ticks;

        public void Fire()
        {
            foreach ((TimerCallback callback, object? state) in _timers)
                callback(state);
        }

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            _timers.Add((callback, state));
            return new NoTimer();
        }

        private sealed class NoTimer : ITimer
        {
            public bool Change(TimeSpan dueTime, TimeSpan period) => true;

            public void Dispose() { }

            public ValueTask DisposeAsync() => ValueTask.CompletedTask;
        }
    }

    private sealed class IdleLoop : ILoop
    {
        public InFlightWindow Window { get; } = new(1);

        public int Unit => 1;

        public long MovedAt => 0;

        public bool TryStop(out Settlements? settlements, out SettleRange rest)
        {
            (settlements, rest) = (null, default);
            return false;
        }
    }

    private sealed class DrivenOutbox(TimeProvider time) : Outbox(time)
    {
        /// <summary>Whether the sender was woken since it last began to send.</summary>
        public bool IsWoken { get; private set; }

        /// <summary>What was settled with what was sent.</summary>
        public List<SettleRange> Settled { get; } = [];

        /// <summary>Does what a sender that was woken does first.</summary>
        /// <returns>What it sends; null when there is nothing to do.</returns>
        public FrameType[]? BeginSend()
        {
            IsWoken = false;
            lock (Gate)
            {
                if (!TryTakeRole())
                    return null;
            }
            Assert.True(TakeRound());
            var types = new List<FrameType>();
            foreach (ArraySegment<byte> segment in Segments)
            {
                for (ReadOnlySpan<byte> left = segment; !left.IsEmpty; )
                {
                    Assert.True(FrameHeader.TryRead(left, 1 << 20, out FrameHeader header));
                    types.Add(header.Type);
                    if (header.Type == FrameType.Settle)
                    {
                        var frame = new SettleFrame(left[FrameHeader.Size..header.Length]);
                        for (int i = 0; i < frame.Count; i++)
                            Settled.Add(frame[i]);
                    }
                    left = left[header.Length..];
                }
            }
            return [.. types];
        }

        public void EndSend()
        {
            EndRound();
            ReleaseRole();
        }

        protected override void WakeSender() => IsWoken = true;

        protected override void SendDirectly() => throw new InvalidOperationException("Nothing here publishes.");
    }
}
