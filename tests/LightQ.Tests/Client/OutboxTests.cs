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
        var completions = new PendingSettlements(Stream);
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
