using LightQ.Broker.DeadLetters;
using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Groups;

/// <summary>
/// A group of a durable topic whose members settle: every message is one member's until that member settles it, or its
/// lock runs out.
/// </summary>
/// <remarks>
/// What was given out and is not settled is <c>_unsettled</c>, in ranges; each message of it is in a lease, in the
/// queue of redeliveries, or on its way to the dead-letter topic. Everything from <c>_next</c> on is new. So the
/// position is where the first of those ranges begins.
/// </remarks>
public sealed class ExplicitGroup : Group
{
    /// <summary>How many batches without messages for members are skipped in one go.</summary>
    private const int MostSkips = 64;

    /// <summary>
    /// How long a consumer with messages waits until it has none, to be given one alone: one that collects them, or
    /// works on one for an hour, does not stand still. Microseconds, as below; no more than a quarter of a lock.
    /// </summary>
    private const long EmptyingTime = 5_000_000;

    /// <summary>
    /// How long a message is alone with a consumer that cannot say that it wants others beside it.
    /// </summary>
    private const long AloneTime = 30_000_000;

    private readonly IDeadLetterSink _deadLetters;
    private readonly UnsettledMessages _unsettled = new();
    private readonly RedeliveryQueue _redeliveries = new();
    private readonly LeasePool _pool = new();
    private readonly Dictionary<long, RedeliveryRange> _dying = [];
    private readonly MonotonicMicroseconds _clock;
    private readonly ITimer _timer;
    private long _timerDue = long.MaxValue;
    private long _next;

    /// <summary>When messages were last completed, or began to wait for that.</summary>
    private long _completedAt;
    private ExplicitMember? _reading;

    internal ExplicitGroup(Partition partition, string name, GroupState state, IDeadLetterSink deadLetters)
        : base(partition, name, state)
    {
        _deadLetters = deadLetters;
        _clock = new MonotonicMicroseconds(partition.Time);
        _completedAt = _clock.Now;
        _timer = partition.Time.CreateTimer(
            static group => ((ExplicitGroup)group!).OnTime(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
        Restore(state);
    }

    /// <inheritdoc/>
    public override SettleMode SettleMode => SettleMode.Explicit;

    /// <inheritdoc/>
    public override long Committed
    {
        get
        {
            lock (Gate)
                return LowestUnsettled;
        }
    }

    internal override bool HasSettledEverything => Committed >= Partition.Log.ReadableOffset;

    internal override long NextOffset
    {
        get
        {
            lock (Gate)
                return Math.Max(0, _next);
        }
    }

    private DeliverySettings Settings => Partition.Topic.Settings.Delivery;

    /// <summary>When the next lock runs out, in unix microseconds; <see cref="long.MaxValue"/> for never.</summary>
    private long FirstDeadline =>
        Members
            .Select(m => ((ExplicitMember)m).FirstLease?.Deadline ?? long.MaxValue)
            .DefaultIfEmpty(long.MaxValue)
            .Min();

    /// <summary>When the next member need not wait any more to have, or to get, a message alone.</summary>
    private long FirstLift => Members.Select(m => ((ExplicitMember)m).Hand.Until).DefaultIfEmpty(long.MaxValue).Min();

    private long LowestUnsettled => Math.Min(_unsettled.First, _next);

    /// <summary>Adds a member. A group that never began begins where the first one says.</summary>
    internal void Join(ExplicitMember member, StartKind start, long value)
    {
        long found =
            _next >= 0
                ? _next
                : LogStart.Find(Partition.Log, start == StartKind.Committed ? StartKind.Earliest : start, value);
        lock (Gate)
        {
            if (_next < 0)
                (_next, IsDirty) = (found, true);
            Members.Add(member);
        }
        OnTime(); // Messages became due while the group had no members.
    }

    internal override void Retire()
    {
        base.Retire();
        _timer.Dispose();
    }

    internal override void Leave(GroupMember member)
    {
        var leaving = (ExplicitMember)member;
        // A member that closes its stream has settled or abandoned what it worked on: the rest counts as not delivered.
        bool isOrderly = member.CloseRequested == StreamClose.Ordinary;
        lock (Gate)
        {
            Members.Remove(member);
            if (_reading == member)
                _reading = null;
            List<(RedeliveryRange Messages, bool IsBegun)> left = [];
            while (leaving.FirstLease is { } lease)
            {
                leaving.Remove(lease);
                while (lease.TryTakeOpen(out RedeliveryRange messages, out bool isBegun))
                    left.Add((messages, isBegun));
                _pool.Return(lease);
            }
            bool isOnly = left.Sum(static l => l.IsBegun ? (long)l.Messages.Count : 0) == 1;
            foreach ((RedeliveryRange messages, bool isBegun) in left)
            {
                Return(
                    isOrderly ? messages.Unseen()
                    : isBegun ? messages.Lost(isOnly, Settings.MaxDeliveries)
                    : messages.Waited()
                );
            }
            IsDirty = true;
        }
        leaving.Hand.Remove(leaving);
        leaving.Hand.Wake();
        WakeMembers();
    }

    /// <summary>Gives a member the next messages.</summary>
    internal ReadResult Take(ExplicitMember member, out LentRun run, out LogGap gap, out GroupDelivery delivery)
    {
        bool othersWaited,
            handWaited;
        ReadResult result;
        lock (Gate)
        {
            othersWaited = _reading == member;
            handWaited = member.Hand.TryWithdraw(member);
            result = TakeLocked(member, out run, out gap, out delivery);
            othersWaited |= result == ReadResult.Run && member.Hand.IsAlone; // For it: they may pass now.
            if (result is ReadResult.Run or ReadResult.Gap)
                IsDirty = true;
        }
        if (othersWaited && result != ReadResult.Pending)
            WakeMembers();
        if (handWaited)
            member.Hand.EndLook();
        member.Hand.Wake();
        return result;
    }

    /// <summary>A member's batch is in its socket.</summary>
    internal void Sent(ExplicitMember member)
    {
        lock (Gate)
            member.Reader.Park();
    }

    /// <summary>A member takes nothing more for now: no other member must wait for its read.</summary>
    internal void Pause(ExplicitMember member)
    {
        lock (Gate)
        {
            if (_reading != member)
                return;
            _reading = null;
        }
        WakeMembers();
    }

    /// <summary>
    /// A member takes another number of messages from now on, and keeps those that it has; or, if it is the same
    /// number, it gets others beside one that it has alone.
    /// </summary>
    internal void Resize(ExplicitMember member, in WindowFrame window)
    {
        lock (Gate)
            member.Set(window);
        member.Hand.Wake();
    }

    /// <summary>
    /// A member returns messages unseen: they are delivered at once, and the first delivery does not count.
    /// </summary>
    internal void HandBack(ExplicitMember member, in SettleRange range)
    {
        lock (Gate)
        {
            if (!member.TryFind(range.DeliveryId, out Lease lease) || !lease.IsOpen(range.FirstOffset, range.Count))
                return; // Its lock has run out.
            RedeliveryRange messages = MessagesOf(lease, range);
            Close(lease, range.FirstOffset, range.Count);
            Return(messages.Unseen());
        }
        member.Hand.Wake();
        WakeMembers();
    }

    /// <summary>Takes what a member says of its messages.</summary>
    internal SettleOutcome Settle(ExplicitMember member, in SettleRange range, ReadOnlySpan<byte> reasonUtf8)
    {
        bool wake = false,
            wasFull;
        lock (Gate)
        {
            if (!member.TryFind(range.DeliveryId, out Lease lease))
                return member.HasExpired(range.DeliveryId) ? SettleOutcome.LockExpired : SettleOutcome.Unknown;
            long now = _clock.Now;
            if (lease.Deadline <= now)
                return SettleOutcome.LockExpired; // The timer is about to redeliver it.
            if (!lease.IsOpen(range.FirstOffset, range.Count))
                return SettleOutcome.Unknown;
            if (range.Kind == SettleKind.Renew)
            {
                member.Renew(lease, now + LockMicroseconds(member));
                Arm(lease.Deadline, now); // Earlier than it was, if the topic's locks are shorter now.
                return SettleOutcome.Done;
            }
            if (range.Kind == SettleKind.Begin)
            {
                lease.SetBegun(range.FirstOffset, range.Count);
                IsDirty = true;
                return SettleOutcome.Done;
            }
            wasFull = member.Room <= 0 || _unsettled.IsOverfull;
            RedeliveryRange messages = MessagesOf(lease, range);
            Close(lease, range.FirstOffset, range.Count);
            switch (range.Kind)
            {
                case SettleKind.Complete:
                    _unsettled.TryRemove(range.FirstOffset, range.Count);
                    Partition.Counters.Settled(range.Count);
                    _completedAt = now;
                    break;
                case SettleKind.Abandon:
                    long delay =
                        range.DelayMilliseconds != 0
                            ? range.DelayMilliseconds * 1000L
                            : Settings.RetryMicroseconds(messages.Deliveries);
                    Return(messages with { NotBefore = now + delay }, reasonUtf8);
                    wake = delay == 0;
                    break;
                case SettleKind.Return:
                    Return(messages.Unseen());
                    wake = true;
                    break;
                default:
                    GiveUp(messages, DeadLetter.ReasonOf(reasonUtf8));
                    break;
            }
            wake |= HasHandedOver(member) || Partition.Failure is not null;
        }
        if (wake)
            WakeMembers();
        else if (wasFull && member.Room > 0)
            member.Schedule();
        member.Hand.Wake();
        return SettleOutcome.Done;
    }

    /// <summary>Messages are safe in the dead-letter topic, or gone from the log.</summary>
    internal void DeadLettered(RedeliveryRange range)
    {
        lock (Gate)
        {
            if (!_dying.TryGetValue(range.First, out RedeliveryRange waiting) || waiting != range)
                return; // The group was reset meanwhile.
            _dying.Remove(range.First);
            _unsettled.TryRemove(range.First, (uint)range.Count);
            Partition.Counters.Settled((uint)range.Count);
            CountDeadLettered(range.Count);
            IsDirty = true;
        }
        if (Partition.Failure is not null)
            WakeMembers();
    }

    /// <summary>Makes dead-lettered messages available again, with no deliveries counted.</summary>
    /// <returns>False when the log does not hold them any more, or they are not settled.</returns>
    internal bool Redrive(long offset)
    {
        lock (Gate)
        {
            if (offset < Partition.Log.StartOffset || offset >= _next || !_unsettled.TryInsert(offset, 1))
                return false;
            _redeliveries.Add(new RedeliveryRange(offset, 1, 0, 0), _clock.Now);
            IsDirty = true;
        }
        WakeMembers();
        return true;
    }

    /// <inheritdoc/>
    public override GroupFigures Figures()
    {
        long start = Partition.Log.StartOffset,
            end = Partition.Log.ReadableOffset;
        lock (Gate)
        {
            return new GroupFigures
            {
                Partition = Partition.Index,
                Committed = LowestUnsettled,
                Next = _next,
                End = end,
                InFlight = Members.Sum(m => (long)((ExplicitMember)m).InFlight),
                RedeliveriesReady = _redeliveries.ReadyCount,
                RedeliveriesDelayed = _redeliveries.DelayedCount,
                NextRedelivery =
                    _redeliveries.DelayedCount == 0 ? null : UnixMicroseconds.ToTime(_redeliveries.NextTime),
                FirstLockEnd = FirstDeadline is var first and < long.MaxValue ? UnixMicroseconds.ToTime(first) : null,
                DeadLettersWaiting = _dying.Count,
                HasTooManyPieces = _unsettled.IsOverfull,
                Idle = TimeSpan.FromMicroseconds(_clock.Now - _completedAt),
                Lowest = LowestHeld(),
                IsReading = _reading is not null,
                Lag = _unsettled.Messages + Math.Max(0, end - Math.Max(start, _next)),
                Counts = Counts,
                Members =
                [
                    .. Members
                        .Cast<ExplicitMember>()
                        .Select(m => FiguresOf(m, m.InFlight, m.MaxInFlight) with { IsAlone = m.Hand.IsAlone }),
                ],
            };
        }
    }

    /// <summary>The lowest message that a member holds, and whose it is.</summary>
    private HeldOffset? LowestHeld()
    {
        HeldOffset? lowest = null;
        foreach (GroupMember member in Members)
        {
            for (Lease? lease = ((ExplicitMember)member).FirstLease; lease is not null; lease = lease.Next)
            {
                if (lease.FirstOpen is { } offset && offset < (lowest?.Offset ?? long.MaxValue))
                    lowest = new HeldOffset(offset, member.Owner.ConnectionId);
            }
        }
        return lowest;
    }

    private protected override GroupState Capture()
    {
        var unsettled = new List<RedeliveryRange>(_redeliveries.All.Concat(_dying.Values));
        foreach (GroupMember member in Members)
        {
            for (Lease? lease = ((ExplicitMember)member).FirstLease; lease is not null; lease = lease.Next)
            {
                // What a broker that starts, or owns the partition next, finds: who had begun what is not asked then.
                unsettled.AddRange(lease.OpenRanges().Select(r => r.IsBegun ? r.Messages : r.Messages.Waited()));
            }
        }
        unsettled.Sort(static (a, b) => a.First.CompareTo(b.First));
        return new GroupState(
            LowestUnsettled,
            Partition.Log.Epoch,
            _next,
            RedeliveryRange.Merge(unsettled),
            IsPaused,
            SettleMode.Explicit
        );
    }

    internal override void Reset(long offset)
    {
        lock (Gate)
        {
            foreach (GroupMember member in Members)
            {
                var holder = (ExplicitMember)member;
                while (holder.FirstLease is { } lease)
                    holder.Expire(lease);
            }
            OpeningGaps.Clear();
            _unsettled.Clear();
            _redeliveries.Clear();
            _dying.Clear();
            _next = offset;
            IsDirty = true;
        }
        WakeMembers();
        WakeHands();
    }

    internal override bool TryTakeBack(bool isForced)
    {
        lock (Gate)
        {
            if (_dying.Count != 0 && !isForced)
                return false;
            foreach (GroupMember member in Members)
            {
                var holder = (ExplicitMember)member;
                while (holder.FirstLease is { } lease)
                {
                    holder.Expire(lease);
                    while (lease.TryTakeOpen(out RedeliveryRange messages, out bool isBegun))
                        _redeliveries.Add(isBegun ? messages : messages.Waited(), _clock.Now);
                    _pool.Return(lease);
                    IsDirty = true;
                }
            }
            return true;
        }
    }

    private protected override bool Holds(GroupMember member) => ((ExplicitMember)member).InFlight > 0;

    private ReadResult TakeLocked(ExplicitMember member, out LentRun run, out LogGap gap, out GroupDelivery delivery)
    {
        (run, delivery) = (default, default);
        if (OpeningGaps.TryDequeue(out gap))
            return ReadResult.Gap;
        // Also for a member that may take no more: other members must not wait for its read.
        if (_reading == member)
            _reading = null;
        if (IsStill || member.Room <= 0 || !member.Hand.Lets(member) || !MayTake(member) || _reading is not null)
            return ReadResult.AtEnd;
        long now = _clock.Now;
        for (int skips = 0; skips < MostSkips; skips++)
        {
            bool isAgain = _redeliveries.TryPeek(out RedeliveryRange wanted);
            if (!isAgain && _unsettled.IsOverfull)
                return ReadResult.AtEnd;
            if (!isAgain)
                wanted = new RedeliveryRange(_next, int.MaxValue, 0, 0);
            if (wanted.IsAlone && !TryEmptyFor(member, now))
                return ReadResult.AtEnd;
            if (member.LastBatch.First <= wanted.First && wanted.First < member.LastBatch.End)
            {
                delivery = Lend(member, isAgain, wanted, member.LastBatch.End, now);
                run = LentRun.Of(delivery, default);
                return ReadResult.Run;
            }
            member.Reader.MoveTo(new LogCursor(wanted.First, wanted.First));
            ReadResult result = member.Reader.TryRead(1, out LentRun found, out gap);
            if (result == ReadResult.Run && !TryPass(isAgain, wanted, found, out gap))
            {
                if (gap == default)
                {
                    member.LastBatch = (found.Start.Offset, found.End.Offset);
                    delivery = Lend(member, isAgain, wanted, found.End.Offset, now);
                    run = LentRun.Of(delivery, found.Memory);
                    return ReadResult.Run;
                }
                result = ReadResult.Gap;
            }
            if (result == ReadResult.Run)
                continue;
            if (result == ReadResult.Gap)
                Skip(isAgain, wanted, gap.LastOffset + 1);
            if (result == ReadResult.Pending)
                _reading = member;
            else
                member.Reader.Park();
            return result;
        }
        member.Schedule();
        return ReadResult.AtEnd;
    }

    /// <summary>
    /// Passes over a batch that holds no messages, or such as are not due and will come as others; says of one whose
    /// messages are lost or have expired which they are.
    /// </summary>
    private bool TryPass(bool isAgain, in RedeliveryRange wanted, in LentRun found, out LogGap gap)
    {
        gap = default;
        var batch = new BatchView(found.Memory.Span);
        BatchFate fate = Partition.Time.FateOf(batch);
        if (fate is BatchFate.Skip or BatchFate.Later)
        {
            Skip(isAgain, wanted, found.End.Offset);
            return true;
        }
        if (fate != BatchFate.Deliver)
        {
            gap = new LogGap(
                wanted.First,
                found.End.Offset - 1,
                fate == BatchFate.Expired ? GapReason.Expired : GapReason.Corrupt
            );
        }

        return false;
    }

    /// <summary>Up to an offset, the wanted messages are for no member.</summary>
    private void Skip(bool isAgain, in RedeliveryRange wanted, long end)
    {
        IsDirty = true;
        if (!isAgain)
        {
            _next = Math.Max(_next, end);
            return;
        }
        int count = (int)Math.Min(wanted.Count, end - wanted.First);
        if (count <= 0)
            return;
        _redeliveries.TakeFirst(count);
        _unsettled.TryRemove(wanted.First, (uint)count);
    }

    private GroupDelivery Lend(ExplicitMember member, bool isAgain, in RedeliveryRange wanted, long batchEnd, long now)
    {
        int count = wanted.IsAlone ? 1 : (int)Math.Min(Math.Min(batchEnd - wanted.First, wanted.Count), member.Room);
        if (_unsettled.Messages == 0)
            _completedAt = now;
        if (isAgain)
        {
            _redeliveries.TakeFirst(count);
        }
        else
        {
            _unsettled.Add(wanted.First, wanted.First + count);
            _next = wanted.First + count;
        }
        var deliveries = (ushort)Math.Min(wanted.Deliveries + 1, ushort.MaxValue);
        CountDelivered(count, isAgain: deliveries > 1);
        Lease lease = _pool.Rent();
        long time = LockMicroseconds(member);
        lease.Begin(member.NextId(), member, wanted with { Count = count, Deliveries = deliveries }, now + time);
        member.Add(lease);
        if (wanted.IsAlone)
            member.Hand.SetAlone(lease, member.AsksForMore ? long.MaxValue : now + Math.Min(AloneTime, time / 4));
        Arm(Math.Min(lease.Deadline, member.Hand.Until), now);
        return new GroupDelivery(
            wanted.First,
            (uint)count,
            lease.Id,
            deliveries,
            (uint)(time / 1000),
            member.SaysWhatIsBegun && wanted.IsDoubted
        );
    }

    private bool TryEmptyFor(ExplicitMember member, long now)
    {
        if (member.Hand.TryEmptyFor(member, now, Math.Min(EmptyingTime, LockMicroseconds(member) / 4)))
            return true;
        Arm(member.Hand.Until, now);
        return false;
    }

    private static RedeliveryRange MessagesOf(Lease lease, in SettleRange range) =>
        new(range.FirstOffset, (int)range.Count, lease.Deliveries, 0, lease.Losses, lease.Waits);

    private long LockMicroseconds(ExplicitMember member) =>
        member.LockMicroseconds != 0 ? member.LockMicroseconds : Settings.LockMicroseconds;

    /// <summary>Takes open messages out of a lease, which ends with its last.</summary>
    private void Close(Lease lease, long first, uint count)
    {
        IsDirty = true;
        lease.Close(first, count);
        lease.Member.Closed(lease, count);
        if (lease.Open == 0)
            _pool.Return(lease);
    }

    private void Expire(Lease lease, long now)
    {
        lease.Member.Expire(lease);
        long retry = now + Settings.RetryMicroseconds(lease.Deliveries);
        while (lease.TryTakeOpen(out RedeliveryRange messages, out bool isBegun))
            Return(isBegun ? messages with { NotBefore = retry } : messages.Waited());
        _pool.Return(lease);
        IsDirty = true;
    }

    /// <summary>Messages are redelivered, or dead-lettered when they were delivered too often.</summary>
    private void Return(in RedeliveryRange messages, ReadOnlySpan<byte> reasonUtf8 = default)
    {
        int most = Settings.MaxDeliveries;
        if (most != 0 && messages.Deliveries >= most)
        {
            GiveUp(messages, DeadLetter.ReasonOf(messages, reasonUtf8));
            return;
        }
        _redeliveries.Add(messages, _clock.Now);
        Arm(_redeliveries.NextTime, _clock.Now);
    }

    private void GiveUp(in RedeliveryRange messages, string reason)
    {
        RedeliveryRange range = messages with { NotBefore = 0 };
        _dying.Add(range.First, range);
        _deadLetters.Send(this, range, reason);
    }

    /// <summary>Sees that the next lock that runs out, or delay that ends, is noticed.</summary>
    private void Arm(long due, long now)
    {
        if (due >= _timerDue)
            return;
        _timerDue = due;
        _timer.Change(TimeSpan.FromMicroseconds(Math.Max(0, due - now)), Timeout.InfiniteTimeSpan);
    }

    private void OnTime()
    {
        bool any = false;
        lock (Gate)
        {
            long now = _clock.Now;
            _timerDue = long.MaxValue;
            foreach (GroupMember member in Members)
            {
                while (((ExplicitMember)member).FirstLease is { } lease && lease.Deadline <= now)
                {
                    Expire(lease, now);
                    any = true;
                }
                any |= ((ExplicitMember)member).Hand.TryLift(now);
            }
            any |= _redeliveries.Ripen(now);
            Arm(Math.Min(Math.Min(FirstDeadline, FirstLift), _redeliveries.NextTime), now);
        }
        if (!any)
            return;
        WakeMembers();
        WakeHands();
    }

    private void WakeHands()
    {
        ConsumerHand[] hands;
        lock (Gate)
            hands = [.. Members.Select(m => ((ExplicitMember)m).Hand)];
        foreach (ConsumerHand hand in hands)
            hand.Wake();
    }

    private void Restore(GroupState state)
    {
        _next = state.Next;
        long seen = Math.Max(state.Next, state.Committed);
        long end = CutBackTo(state, seen);
        _next = Math.Min(_next, end);
        foreach (RedeliveryRange range in state.Unsettled ?? [])
        {
            int count = (int)Math.Min(range.Count, end - range.First);
            if (count <= 0)
                break;
            _unsettled.Add(range.First, range.First + count);
            _redeliveries.Add(range with { Count = count }, _clock.Now);
        }
        Arm(_redeliveries.NextTime, _clock.Now);
    }
}
