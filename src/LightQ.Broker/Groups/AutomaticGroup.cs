using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Groups;

/// <summary>
/// A group whose messages the broker settles: each run goes to one member, and is settled when it is in that member's
/// socket.
/// </summary>
/// <remarks>Members read with readers of their own and take turns.</remarks>
public sealed class AutomaticGroup : Group
{
    private readonly List<LentRun> _returned = [];
    private LogReader? _holder;
    private LogCursor _cursor;
    private AutomaticMember? _reading;
    private long _committed;

    internal AutomaticGroup(Partition partition, string name, GroupState state)
        : base(partition, name, state)
    {
        _committed = Math.Min(state.Committed, CutBackTo(state, state.Committed));
    }

    /// <inheritdoc/>
    public override SettleMode SettleMode => SettleMode.Automatic;

    /// <inheritdoc/>
    public override long Committed => Volatile.Read(ref _committed);

    internal override bool HasSettledEverything => Committed >= Partition.Log.ReadableOffset;

    internal override LogCursor FirstUnsettled
    {
        get
        {
            lock (Gate)
                return Members.Count == 0 ? new LogCursor(_committed, -1) : LowestUnsettled;
        }
    }

    internal override long NextOffset
    {
        get
        {
            lock (Gate)
                return _returned.Count == 0 ? _cursor.Offset : Math.Min(_cursor.Offset, _returned[0].Start.Offset);
        }
    }

    /// <summary>Of what members were not sent, the first place.</summary>
    private LogCursor LowestUnsettled
    {
        get
        {
            LogCursor lowest = _returned.Count != 0 ? _returned[0].Start : _cursor;
            foreach (GroupMember member in Members)
            {
                LentRun taken = ((AutomaticMember)member).Taken;
                if (!taken.Memory.IsEmpty && taken.Start.Offset < lowest.Offset)
                    lowest = taken.Start;
            }
            return lowest;
        }
    }

    /// <summary>
    /// Adds a member; the first one puts the group at its position. A group that never began begins where that one
    /// says.
    /// </summary>
    internal void Join(AutomaticMember member, StartKind start, long value)
    {
        lock (Gate)
        {
            if (Members.Count == 0)
            {
                if (_committed >= 0)
                    (start, value) = (StartKind.Offset, _committed);
                else if (start == StartKind.Committed)
                    start = StartKind.Earliest;
                Open(start, value);
            }
            Members.Add(member);
            UpdateCommitted();
        }
    }

    internal override void Leave(GroupMember member)
    {
        lock (Gate)
        {
            LentRun unsent = ((AutomaticMember)member).Taken;
            Members.Remove(member);
            if (_reading == member)
                _reading = null;
            if (!unsent.Memory.IsEmpty)
                Return(unsent);
            UpdateCommitted();
            if (Members.Count == 0)
                Forget();
        }
        WakeMembers();
    }

    /// <inheritdoc/>
    public override GroupFigures Figures()
    {
        long start = Partition.Log.StartOffset,
            end = Partition.Log.ReadableOffset;
        lock (Gate)
        {
            long next = Members.Count != 0 ? _cursor.Offset : Math.Max(0, _committed);
            return new GroupFigures
            {
                Partition = Partition.Index,
                Committed = _committed,
                Next = next,
                End = end,
                InFlight = Members.Sum(m => ((AutomaticMember)m).Taken.Messages),
                RedeliveriesReady = _returned.Count,
                IsReading = _reading is not null,
                Lag = Math.Max(0, end - Math.Max(start, _committed)),
                Counts = Counts,
                Members = [.. Members.Select(m => FiguresOf(m, ((AutomaticMember)m).Taken.Messages, 0))],
            };
        }
    }

    private protected override GroupState Capture() =>
        new(_committed, Partition.Log.Epoch, _committed, IsPaused: IsPaused);

    internal override void Reset(long offset)
    {
        lock (Gate)
        {
            OpeningGaps.Clear();
            _committed = offset;
            IsDirty = true;
            if (Members.Count == 0)
                return;
            Forget();
            foreach (GroupMember member in Members)
                ((AutomaticMember)member).Taken = default;
            Open(StartKind.Offset, offset);
        }
        WakeMembers();
    }

    /// <summary>Gives a member the next run.</summary>
    internal ReadResult Take(AutomaticMember member, int maxBytes, out LentRun run, out LogGap gap)
    {
        bool othersWaited;
        ReadResult result;
        lock (Gate)
        {
            othersWaited = _reading == member;
            result = TakeLocked(member, maxBytes, out run, out gap);
        }
        if (othersWaited && result != ReadResult.Pending)
            WakeMembers();
        return result;
    }

    private ReadResult TakeLocked(AutomaticMember member, int maxBytes, out LentRun run, out LogGap gap)
    {
        run = default;
        if (OpeningGaps.TryDequeue(out gap))
            return ReadResult.Gap;
        // Also for a member that may take no more: other members must not wait for its read.
        if (_reading == member)
            _reading = null;
        if (IsStill || !MayTake(member) || _reading is not null)
            return ReadResult.AtEnd;
        bool again = _returned.Count != 0;
        LogCursor from = again ? _returned[0].Start : _cursor;
        // The holder still stands at or before this place, so nothing is overwritten while the member's reader gets
        // there.
        member.Reader.MoveTo(from);
        int limit = again ? (int)Math.Min(maxBytes, _returned[0].End.Position - from.Position) : maxBytes;
        ReadResult result = member.Reader.TryRead(limit, out run, out gap);
        _reading = result == ReadResult.Pending ? member : null;
        if (result == ReadResult.Run)
        {
            member.Taken = run;
            CountDelivered(run.Messages, again);
            Move(again, run.End);
        }
        else if (result == ReadResult.Gap)
        {
            Move(again, member.Reader.Cursor);
            member.Reader.Park();
        }
        else if (result == ReadResult.AtEnd)
        {
            member.Reader.Park();
        }
        return result;
    }

    /// <summary>A member's run is in its socket.</summary>
    internal void Settle(AutomaticMember member)
    {
        bool handedOver;
        lock (Gate)
        {
            member.Taken = default;
            member.Reader.Park();
            UpdateCommitted();
            handedOver = HasHandedOver(member);
        }
        if (handedOver || Partition.Failure is not null)
            WakeMembers();
    }

    private protected override bool Holds(GroupMember member) => !((AutomaticMember)member).Taken.Memory.IsEmpty;

    private void Move(bool again, in LogCursor to)
    {
        if (!again)
        {
            _cursor = to;
        }
        else
        {
            LentRun first = _returned[0];
            if (to.Position >= first.End.Position)
                _returned.RemoveAt(0);
            else
                _returned[0] = first with { Start = to };
        }
        HoldLowest();
    }

    private void Return(in LentRun run)
    {
        int index = 0;
        while (index < _returned.Count && _returned[index].Start.Position < run.Start.Position)
            index++;
        _returned.Insert(index, run with { Memory = default });
        HoldLowest();
    }

    private void HoldLowest() => _holder!.MoveTo(_returned.Count != 0 ? _returned[0].Start : _cursor);

    private void UpdateCommitted()
    {
        long lowest = LowestUnsettled.Offset;
        if (lowest <= _committed)
            return;
        Volatile.Write(ref _committed, lowest);
        IsDirty = true;
    }

    private void Open(StartKind start, long value)
    {
        _holder = Partition.Log.OpenReader(start, value, holds: true, static () => { });
        _cursor = _holder.Cursor;
        if (start == StartKind.Offset && value < _cursor.Offset)
            OpeningGaps.Enqueue(new LogGap(value, _cursor.Offset - 1, GapReason.Retention));
    }

    private void Forget()
    {
        _holder!.Dispose();
        _holder = null;
        _returned.Clear();
    }
}
