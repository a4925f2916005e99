using System.Runtime.InteropServices;
using LightQ.Client.Connections;
using LightQ.Client.Timing;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>
/// The locks of what a member of a group was delivered on one subscription and one connection: renews those that it
/// needs, and knows when the others run out.
/// </summary>
/// <remarks>
/// <para>
/// Thread-safe. A lock is looked at when half of its time is over. It is renewed while messages of it are in the
/// application's hands, for as long as the options allow, and while messages of it wait and the application asks for
/// more or settles: one that has done neither for the time of a lock keeps nothing from other members. All that are
/// due together go in one frame.
/// </para>
/// <para>
/// The end of a lock counts from before its delivery arrived, or its renewal was asked for, so it is never after the
/// broker's by more than the way of the delivery. Nothing here needs the thread pool.
/// </para>
/// <para>Lock order: the consumer's gate, then this one, then the outbox's.</para>
/// </remarks>
internal sealed class HeldLocks : IDisposable
{
    /// <summary>The tag of renewals; the other tags are below.</summary>
    public const uint RenewalTag = 1u << 31;

    /// <summary>The tag of what is given back.</summary>
    public const uint ReturnTag = RenewalTag + 1;

    /// <summary>Most ranges in a frame, which keeps it below every limit of a broker.</summary>
    public const int MostRanges = 256;

    /// <summary>
    /// A lock that is due within this part of its time is renewed along with one that is due now: fewer frames.
    /// </summary>
    private const int CompanyShare = 16;

    private readonly Outbox _outbox;
    private readonly PendingSettlements _settled;
    private readonly TimeProvider _time;
    private readonly ILoop _loop;
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, HeldLock> _byId = [];
    private readonly Stack<HeldLock> _spare = new();
    private readonly List<SettleRange> _renewals = [];
    private readonly SettleRange[] _unnoted = new SettleRange[PendingSettlements.Most];
    private readonly ITimer _timer;
    private HeldLock? _first;
    private HeldLock? _last;
    private long _timerDue = long.MaxValue;
    private int _open;
    private long _settledAt;
    private bool _hasSettled;
    private bool _hasEnded;

    /// <param name="outbox">Sends to the broker.</param>
    /// <param name="settled">What the subscription has settled.</param>
    /// <param name="time">The client's clock.</param>
    /// <param name="loop">Hands out what is delivered.</param>
    public HeldLocks(Outbox outbox, PendingSettlements settled, TimeProvider time, ILoop loop)
    {
        (_outbox, _settled, _time, _loop) = (outbox, settled, time, loop);
        _timer = ClientTimer.Create(time, static locks => ((HeldLocks)locks!).OnTimer(), this);
    }

    /// <summary>Messages that were delivered and are not settled.</summary>
    public int Open
    {
        get
        {
            lock (_gate)
            {
                Close();
                return _open;
            }
        }
    }

    /// <summary>The delivery that arrived last.</summary>
    public uint LastDelivery { get; private set; }

    /// <summary>The time by the client's clock, as a timestamp.</summary>
    public long Now => _time.GetTimestamp();

    /// <summary>A delivery has arrived.</summary>
    public HeldLock Add(in GroupDelivery delivery)
    {
        lock (_gate)
        {
            Close();
            LastDelivery = delivery.DeliveryId;
            if (!_spare.TryPop(out HeldLock? held))
                held = new HeldLock();
            long now = _time.GetTimestamp();
            held.Begin(
                delivery.DeliveryId,
                delivery.FirstOffset,
                (int)delivery.Count,
                now,
                Ticks(TimeSpan.FromMilliseconds(delivery.LockMilliseconds))
            );
            if (!_hasEnded)
            {
                _byId[held.Id] = held;
                held.IsHeld = true;
                _open += held.Open;
                Insert(held);
                Arm(_first!.Due, now);
            }
            return held;
        }
    }

    /// <summary>A reader begins to hand out a delivery.</summary>
    /// <returns>False when its lock has run out.</returns>
    public bool TryTake(HeldLock held)
    {
        List<ILockHolder>? lost = null;
        bool isTaken;
        lock (_gate)
        {
            Close();
            isTaken = held.IsHeld && IsGood(held, _time.GetTimestamp(), ref lost);
            held.IsRead |= isTaken;
        }
        Tell(lost);
        return isTaken;
    }

    /// <summary>
    /// A reader has found that a lock has run out, and hands out nothing more of its delivery. So it is, also when the
    /// broker answers later that it has renewed the lock: what nobody works on must not be kept from other members.
    /// </summary>
    public void Lose(HeldLock held)
    {
        List<ILockHolder>? lost = null;
        lock (_gate)
        {
            Close();
            if (held.IsHeld)
                Lose(held, ref lost);
        }
        Tell(lost);
    }

    /// <summary>A reader hands out nothing more of a delivery.</summary>
    public void Leave(HeldLock held)
    {
        lock (_gate)
        {
            Close();
            // What was handed out and is not settled is still the application's: the lock is kept for it.
            (held.Next, held.IsRead) = (held.End, false);
            if (!held.IsHeld && held.Open == 0)
                _spare.Push(held);
        }
    }

    /// <summary>When the lock of a delivery runs out, in ticks of UTC by the client's clock.</summary>
    /// <returns>Null when it has, or all of the delivery is settled.</returns>
    public long? UntilOf(uint id)
    {
        lock (_gate)
        {
            Close();
            return _byId.TryGetValue(id, out HeldLock? held)
                ? (_time.GetUtcNow() + _time.GetElapsedTime(_time.GetTimestamp(), held.Deadline)).UtcTicks
                : null;
        }
    }

    /// <summary>Whether a message is this consumer's and not settled.</summary>
    public bool IsOpen(uint id, long offset)
    {
        lock (_gate)
        {
            Close();
            return _byId.TryGetValue(id, out HeldLock? held) && held.IsOpen(offset);
        }
    }

    /// <summary>Finds the first messages that were handed out and are not settled.</summary>
    /// <param name="id">Their delivery, which is of one batch.</param>
    /// <param name="first">The first of them.</param>
    /// <param name="count">
    /// How many lie there together; 1 where those before them were settled: then the delivery is worked on in parts.
    /// </param>
    public bool TryFindInHand(out uint id, out long first, out int count)
    {
        (id, first, count) = (0, 0, 0);
        lock (_gate)
        {
            Close();
            foreach (HeldLock held in _byId.Values)
            {
                if (count != 0 && held.Id > id)
                    continue;
                long open = held.FirstOpen();
                if (open < held.Next)
                    (id, first, count) = (held.Id, open, open == held.First ? held.OpenFrom(open, held.Next) : 1);
            }
        }
        return count != 0;
    }

    /// <summary>Messages are about to be settled.</summary>
    public void Settling(uint id, long first, uint count)
    {
        lock (_gate)
        {
            Close();
            while (!_settled.TryNote(id, first, count))
                Close(); // Another thread has settled as much meanwhile.
        }
    }

    /// <summary>Keeps a delivery's lock for the sake of a holder, which hears when it is lost.</summary>
    /// <param name="id">The delivery.</param>
    /// <param name="holder">The holder of one of its messages.</param>
    /// <param name="renewal">For how long the lock is renewed, from now on.</param>
    /// <returns>False when it is lost already.</returns>
    public bool TryHold(uint id, ILockHolder holder, TimeSpan renewal) => Extend(id, renewal, holder);

    /// <summary>Begins the time for which a delivery's lock is renewed anew.</summary>
    /// <returns>False when it is lost already.</returns>
    public bool TryExtend(uint id, TimeSpan renewal) => Extend(id, renewal, null);

    /// <summary>A message of a lock was handed out after half of its time.</summary>
    public void Keep(HeldLock held)
    {
        lock (_gate)
        {
            Close();
            if (held.IsHeld)
                LookAtOnce(held, _time.GetTimestamp());
        }
    }

    /// <summary>A holder is done with its message.</summary>
    public void LetGo(uint id, ILockHolder holder)
    {
        lock (_gate)
        {
            Close();
            if (!_byId.TryGetValue(id, out HeldLock? held) || held.Holders is null || !held.Holders.Remove(holder))
                return;
            if (held.Holders.Count == 0)
                held.Holders = null;
        }
    }

    /// <summary>Whether the lock of a delivery has not run out. If it has, it stays so.</summary>
    public bool IsHeld(uint id)
    {
        List<ILockHolder>? lost = null;
        bool isHeld;
        lock (_gate)
        {
            Close();
            isHeld = _byId.TryGetValue(id, out HeldLock? held) && IsGood(held, _time.GetTimestamp(), ref lost);
        }
        Tell(lost);
        return isHeld;
    }

    /// <summary>The broker has renewed a lock.</summary>
    /// <param name="id">The delivery.</param>
    /// <param name="askedAt">When it was asked to.</param>
    public void OnRenewed(uint id, long askedAt)
    {
        lock (_gate)
        {
            Close();
            if (_byId.TryGetValue(id, out HeldLock? held))
                Renew(held, askedAt);
        }
    }

    /// <summary>The broker has answered what <see cref="RenewalTag"/> marks.</summary>
    public void OnAnswered(in SettledFrame answer)
    {
        List<ILockHolder>? lost = null;
        lock (_gate)
        {
            Close();
            for (int i = 0; i < answer.Count; i++)
            {
                if (!_byId.TryGetValue(answer[i].DeliveryId, out HeldLock? held) || held.AskedAt == 0)
                    continue;
                if (answer[i].Outcome == SettleOutcome.Done)
                    Renew(held, held.AskedAt);
                else
                    Lose(held, ref lost);
            }
        }
        Tell(lost);
    }

    /// <summary>The connection has ended, and all locks with it.</summary>
    public void Dispose()
    {
        List<ILockHolder>? lost = null;
        lock (_gate)
        {
            Close();
            _hasEnded = true;
            while (_first is { } held)
                Lose(held, ref lost);
        }
        _timer.Dispose();
        Tell(lost);
    }

    private static void Tell(List<ILockHolder>? lost)
    {
        foreach (ILockHolder holder in lost ?? [])
            holder.OnLockLost();
    }

    private bool Extend(uint id, TimeSpan renewal, ILockHolder? holder)
    {
        List<ILockHolder>? lost = null;
        bool isExtended = false;
        lock (_gate)
        {
            Close();
            long now = _time.GetTimestamp();
            if (_byId.TryGetValue(id, out HeldLock? held) && IsGood(held, now, ref lost))
            {
                isExtended = true;
                held.KeepUntil = Math.Max(held.KeepUntil, now + Ticks(renewal));
                if (holder is not null)
                    (held.Holders ??= []).Add(holder);
                LookAtOnce(held, now);
            }
        }
        Tell(lost);
        return isExtended;
    }

    /// <summary>Whether a lock has not run out; one that has is lost. Called under the gate.</summary>
    private bool IsGood(HeldLock held, long now, ref List<ILockHolder>? lost)
    {
        if (now < held.Deadline)
            return true;
        Lose(held, ref lost);
        return false;
    }

    private void OnTimer()
    {
        List<ILockHolder>? lost = null;
        lock (_gate)
        {
            Close();
            if (_hasEnded)
                return;
            _timerDue = long.MaxValue;
            long now = _time.GetTimestamp();
            if (_hasSettled)
                (_settledAt, _hasSettled) = (now, false);
            while (_first is { } held && (held.Due <= now || IsCompany(held, now)))
            {
                if (held.Deadline <= now)
                {
                    Lose(held, ref lost);
                    continue;
                }
                if (IsNeeded(held, now))
                {
                    held.AskedAt = now;
                    _renewals.Add(new SettleRange(SettleKind.Renew, held.Id, held.FirstOpen(), 1));
                    if (_renewals.Count == MostRanges)
                        Send();
                }
                // Armed while the answer is awaited, too: a broker that does not answer keeps nothing going.
                Move(held, held.Deadline);
            }
            // Under the gate: what is settled from now on is behind this in the outbox.
            Send();
            if (_first is not null)
                Arm(_first.Due, now);
        }
        Tell(lost);
    }

    /// <summary>Notes what was settled. Called under the gate, before anything that depends on it.</summary>
    private void Close()
    {
        int count = _settled.TakeUnnoted(_unnoted);
        _hasSettled |= count != 0;
        for (int i = 0; i < count; i++)
            Close(_unnoted[i]);
    }

    private void Close(in SettleRange settled)
    {
        if (!_byId.TryGetValue(settled.DeliveryId, out HeldLock? held))
            return;
        int before = held.Open;
        held.Close(settled.FirstOffset, settled.Count);
        _open -= before - held.Open;
        if (held.Open != 0)
            return;
        Remove(held);
        if (!held.IsRead)
            _spare.Push(held);
    }

    /// <summary>Whether a lock is renewed because others are, a little before its time.</summary>
    private bool IsCompany(HeldLock held, long now) =>
        _renewals.Count != 0 && held.Due < held.Deadline && held.Due <= now + (held.Duration / CompanyShare);

    private bool IsNeeded(HeldLock held, long now) =>
        now < held.KeepUntil || (held.IsWaiting && now - Math.Max(_loop.MovedAt, _settledAt) < held.Duration);

    /// <summary>
    /// Nothing may have needed the lock when half of its time was over; now something may. Called under the gate.
    /// </summary>
    private void LookAtOnce(HeldLock held, long now)
    {
        if (held.AskedAt != 0 || held.HalfTime > now || held.Due <= now)
            return;
        Move(held, now);
        Arm(now, now);
    }

    private void Send()
    {
        if (_renewals.Count == 0)
            return;
        _outbox.Settle(_settled.Stream, RenewalTag, CollectionsMarshal.AsSpan(_renewals));
        _renewals.Clear();
    }

    private void Renew(HeldLock held, long askedAt)
    {
        held.AskedAt = 0;
        held.Deadline = askedAt + held.Duration;
        Move(held, held.HalfTime);
        Arm(_first!.Due, _time.GetTimestamp());
    }

    private void Lose(HeldLock held, ref List<ILockHolder>? lost)
    {
        _open -= held.Open;
        held.Deadline = long.MinValue;
        if (held.Holders is { } holders)
        {
            (lost ??= []).AddRange(holders);
            held.Holders = null;
        }
        Remove(held);
    }

    private void Remove(HeldLock held)
    {
        _byId.Remove(held.Id);
        held.IsHeld = false;
        held.Holders = null;
        Unlink(held);
    }

    private void Move(HeldLock held, long due)
    {
        Unlink(held);
        held.Due = due;
        Insert(held);
    }

    /// <summary>Locks of a subscription last equally long: one that is new or renewed belongs near the end.</summary>
    private void Insert(HeldLock held)
    {
        HeldLock? before = _last;
        while (before is not null && before.Due > held.Due)
            before = before.Before;
        HeldLock? behind = before is null ? _first : before.Behind;
        (held.Before, held.Behind) = (before, behind);
        if (before is null)
            _first = held;
        else
            before.Behind = held;
        if (behind is null)
            _last = held;
        else
            behind.Before = held;
    }

    private void Unlink(HeldLock held)
    {
        if (held.Before is null)
            _first = held.Behind;
        else
            held.Before.Behind = held.Behind;
        if (held.Behind is null)
            _last = held.Before;
        else
            held.Behind.Before = held.Before;
        (held.Before, held.Behind) = (null, null);
    }

    /// <summary>Sees that the first lock that is due is looked at. Called under the gate.</summary>
    private void Arm(long due, long now)
    {
        if (due >= _timerDue)
            return;
        _timerDue = due;
        TimeSpan left = _time.GetElapsedTime(now, due);
        _timer.Change(left > TimeSpan.Zero ? left : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }

    private long Ticks(TimeSpan time) => (long)(time.TotalSeconds * _time.TimestampFrequency);
}
