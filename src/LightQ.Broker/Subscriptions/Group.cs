using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Subscriptions;

/// <summary>A group on one partition: its members share what comes, each run going to one of them.</summary>
/// <remarks>
/// The group owns the position; members read with readers of their own and take turns. Each message is settled when its run
/// is in the member's socket. The committed position is the lowest offset not yet settled. All state is guarded by the group's lock.
/// </remarks>
public sealed class Group
{
    private readonly Lock _lock = new();
    private readonly Partition _partition;
    private readonly List<GroupMember> _members = [];
    private readonly List<LentRun> _returned = [];
    private readonly Queue<LogGap> _openingGaps = new();
    private LogReader? _holder;
    private LogCursor _cursor;
    private GroupMember? _reading;
    private long _committed;
    private bool _dirty;

    /// <param name="partition">The partition.</param>
    /// <param name="name">The group's name.</param>
    /// <param name="committed">Where it stood; -1 for a group that never began.</param>
    /// <param name="epoch">The log's epoch then; null when that is not known.</param>
    internal Group(Partition partition, string name, long committed, uint? epoch = null)
    {
        _partition = partition;
        Name = name;
        LogGap cut = LogDivergence.Find(partition.Log, committed, epoch ?? partition.Log.Epoch, partition.Log.Incarnation);
        if (cut != default)
        {
            _openingGaps.Enqueue(cut);
            committed = cut.FirstOffset;
            _dirty = true;
        }
        _committed = committed;
    }

    /// <summary>The group's name.</summary>
    public string Name { get; }

    /// <summary>The lowest offset not yet settled; -1 for a group that never began.</summary>
    public long Committed => Volatile.Read(ref _committed);

    /// <summary>The next offset that no member has been given.</summary>
    internal long NextOffset
    {
        get
        {
            lock (_lock)
                return _returned.Count == 0 ? _cursor.Offset : Math.Min(_cursor.Offset, _returned[0].Start.Offset);
        }
    }

    /// <summary>Adds a member; the first one puts the group at its position.</summary>
    internal void Join(GroupMember member, StartKind start, long value)
    {
        lock (_lock)
        {
            if (_members.Count == 0)
            {
                if (start == StartKind.Committed)
                    (start, value) = _committed < 0 ? (StartKind.Earliest, 0) : (StartKind.Offset, _committed);
                _holder = _partition.Log.OpenReader(start, value, holds: true, static () => { });
                _cursor = _holder.Cursor;
                if (start == StartKind.Offset && value < _cursor.Offset)
                    _openingGaps.Enqueue(new LogGap(value, _cursor.Offset - 1, GapReason.Retention));
            }
            _members.Add(member);
            UpdateCommitted();
        }
    }

    /// <summary>Removes a member; a run that was not in its socket goes to the others.</summary>
    internal void Leave(GroupMember member, in LentRun unsent)
    {
        lock (_lock)
        {
            _members.Remove(member);
            if (_reading == member)
                _reading = null;
            if (!unsent.Memory.IsEmpty)
                Return(unsent);
            UpdateCommitted();
            if (_members.Count == 0)
            {
                _holder!.Dispose();
                _holder = null;
                _returned.Clear();
            }
        }
        WakeMembers();
    }

    /// <summary>Gives a member the next run.</summary>
    internal ReadResult Take(GroupMember member, int maxBytes, out LentRun run, out LogGap gap)
    {
        bool othersWaited;
        ReadResult result;
        lock (_lock)
        {
            othersWaited = _reading == member;
            result = TakeLocked(member, maxBytes, out run, out gap);
        }
        if (othersWaited && result != ReadResult.Pending)
            WakeMembers();
        return result;
    }

    private ReadResult TakeLocked(GroupMember member, int maxBytes, out LentRun run, out LogGap gap)
    {
        run = default;
        if (_openingGaps.TryDequeue(out gap))
            return ReadResult.Gap;
        if (_reading is not null && _reading != member)
            return ReadResult.AtEnd;
        bool again = _returned.Count != 0;
        LogCursor from = again ? _returned[0].Start : _cursor;
        // The holder still stands at or before this place, so nothing is overwritten while the member's reader gets there.
        member.Reader.MoveTo(from);
        int limit = again ? (int)Math.Min(maxBytes, _returned[0].End.Position - from.Position) : maxBytes;
        ReadResult result = member.Reader.TryRead(limit, out run, out gap);
        _reading = result == ReadResult.Pending ? member : null;
        if (result == ReadResult.Run)
        {
            member.Taken = run;
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
    internal void Settle(GroupMember member)
    {
        lock (_lock)
        {
            member.Taken = default;
            member.Reader.Park();
            UpdateCommitted();
        }
    }

    /// <summary>Whether the committed position moved since the last call, and where it is.</summary>
    internal bool TryTakeCommitted(out long committed)
    {
        lock (_lock)
        {
            committed = _committed;
            bool dirty = _dirty;
            _dirty = false;
            return dirty;
        }
    }

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
        long lowest = _returned.Count != 0 ? _returned[0].Start.Offset : _cursor.Offset;
        foreach (GroupMember member in _members)
        {
            if (!member.Taken.Memory.IsEmpty)
                lowest = Math.Min(lowest, member.Taken.Start.Offset);
        }
        if (lowest <= _committed)
            return;
        Volatile.Write(ref _committed, lowest);
        _dirty = true;
    }

    private void WakeMembers()
    {
        GroupMember[] members;
        lock (_lock)
            members = [.. _members];
        foreach (GroupMember member in members)
            member.OnPublished();
    }
}
