using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Storage;

namespace LightQ.Broker.Groups;

/// <summary>A group on one partition: its members share what comes. It owns the position, they own readers.</summary>
/// <remarks>All state is guarded by <see cref="Gate"/>, which nothing holds while it touches the disk.</remarks>
public abstract class Group
{
    private readonly OldestUnsettled _oldest = new();
    private GroupCounts _counts;
    private bool _isRetired;
    private int _joining;
    private bool _isDraining;
    private bool _isHeld;
    private long _used;

    private protected Group(Partition partition, string name, GroupState state)
    {
        Partition = partition;
        Name = name;
        IsPaused = state.IsPaused;
        Maker = state.Maker;
        _used = state.Used;
        _isDraining = partition.IsLeaving;
        _isHeld = partition.IsUnsure;
    }

    /// <summary>The group's name.</summary>
    public string Name { get; }

    /// <summary>The partition.</summary>
    public Partition Partition { get; }

    /// <summary>
    /// The <see cref="Users.UserNumber"/> of whoever made it; that of nobody where that is not known.
    /// </summary>
    public uint Maker { get; }

    /// <summary>When it last had a member or settled something, unix microseconds; 0 when that is not known.</summary>
    internal long Used
    {
        get
        {
            lock (Gate)
                return _used;
        }
    }

    private long Now => UnixMicroseconds.From(Partition.Time.GetUtcNow());

    /// <summary>Who settles: the broker, or the members.</summary>
    public abstract SettleMode SettleMode { get; }

    /// <summary>The lowest offset that is not settled; -1 for a group that never began.</summary>
    public abstract long Committed { get; }

    /// <summary>Whether its members get nothing until it is resumed.</summary>
    public bool IsPaused { get; private set; }

    /// <summary>Whether its members get nothing at the moment. Called under the gate.</summary>
    private protected bool IsStill => IsPaused | _isDraining | _isHeld;

    /// <summary>Whether it got everything that can be read, and no message of it can be redelivered.</summary>
    internal abstract bool HasSettledEverything { get; }

    /// <summary>The next offset that no member has been given.</summary>
    internal abstract long NextOffset { get; }

    /// <summary>
    /// Where the oldest message lies that is not settled; its position is -1 where only the offset is known.
    /// </summary>
    internal virtual LogCursor FirstUnsettled => new(Committed, -1);

    /// <summary>How many members it has.</summary>
    public int MemberCount
    {
        get
        {
            lock (Gate)
                return Members.Count;
        }
    }

    /// <summary>Whether it has no members, and none is about to join.</summary>
    internal bool IsEmpty
    {
        get
        {
            lock (Gate)
                return Members.Count + _joining == 0;
        }
    }

    private protected Lock Gate { get; } = new();

    /// <summary>Guarded by the gate.</summary>
    private protected GroupCounts Counts => _counts;

    private protected List<GroupMember> Members { get; } = [];

    /// <summary>What members get to know before anything else.</summary>
    private protected Queue<LogGap> OpeningGaps { get; } = new();

    /// <summary>
    /// Whether the state changed since it was last kept; housekeeping learns of it when that turns true. Guarded by the
    /// gate.
    /// </summary>
    private protected bool IsDirty
    {
        get;
        set
        {
            if (value && !field)
                Partition.OnPositionMoved();
            field = value;
        }
    }

    /// <summary>
    /// The member that owns the partition; always null in a topic with one partition, which all members share.
    /// </summary>
    internal GroupMember? Assignee { get; private set; }

    /// <summary>Whether one member at a time is served, so that the order within the partition is kept.</summary>
    private protected bool IsExclusive => Partition.Topic.Settings.Partitions > 1;

    /// <summary>Gives the partition to a member, or to none.</summary>
    internal void Assign(GroupMember? member)
    {
        lock (Gate)
            Assignee = member;
        WakeMembers();
    }

    /// <summary>A member is about to join, or no longer is.</summary>
    internal void Expect(int joining)
    {
        lock (Gate)
            _joining += joining;
    }

    /// <summary>Another group stands in its place, or its topic is deleted.</summary>
    internal virtual void Retire()
    {
        lock (Gate)
            _isRetired = true;
    }

    /// <summary>Has the state kept.</summary>
    internal void MarkDirty()
    {
        lock (Gate)
            IsDirty = true;
    }

    /// <summary>It is used now, which is kept.</summary>
    internal void MarkUsed()
    {
        lock (Gate)
            (_used, IsDirty) = (Now, true);
    }

    /// <summary>Removes a member; what it held goes to the others.</summary>
    internal abstract void Leave(GroupMember member);

    /// <summary>The group as it is now.</summary>
    public abstract GroupFigures Figures();

    /// <summary>How long ago the oldest message was appended that is not settled.</summary>
    /// <param name="cancellationToken">Ends the wait for the disk.</param>
    /// <returns>Zero when nothing waits for a member; null when that is not found out.</returns>
    /// <exception cref="IOException">It cannot be read.</exception>
    public ValueTask<TimeSpan?> ReadOldestAgeAsync(CancellationToken cancellationToken) =>
        _oldest.ReadAgeAsync(this, cancellationToken);

    /// <summary>What is to be kept of the group, as it is now, with who made it and when it was used.</summary>
    internal GroupState Whole()
    {
        lock (Gate)
            return Capture() with { Maker = Maker, Used = _used };
    }

    /// <summary>What is to be kept of the group, as it is now.</summary>
    private protected abstract GroupState Capture();

    /// <summary>Starts the group again at an offset: its members no longer hold any messages.</summary>
    internal abstract void Reset(long offset);

    /// <summary>It stands in the place of another, and goes on with its counts.</summary>
    internal void GoOnCounting(Group before)
    {
        lock (before.Gate)
            _counts = before._counts;
    }

    /// <summary>A member is given messages: once a run. Called under the gate.</summary>
    private protected void CountDelivered(long messages, bool isAgain) =>
        _counts = _counts.Plus(new GroupCounts(messages, isAgain ? messages : 0, 0));

    /// <summary>Dead-lettered messages are safe. Called under the gate.</summary>
    private protected void CountDeadLettered(long messages) => _counts = _counts.Plus(new GroupCounts(0, 0, messages));

    /// <summary>Stops or resumes deliveries. Members keep the messages that they hold.</summary>
    internal void SetPaused(bool paused)
    {
        lock (Gate)
        {
            IsPaused = paused;
            IsDirty = true;
        }
        WakeMembers();
    }

    /// <summary>Gives its members nothing any more.</summary>
    internal void Drain()
    {
        lock (Gate)
            _isDraining = true;
    }

    /// <summary>Stops deliveries while the node may not be the partition's leader any more, or resumes them.</summary>
    internal void Hold(bool isHeld)
    {
        lock (Gate)
            _isHeld = isHeld;
        if (!isHeld)
            WakeMembers();
    }

    /// <summary>
    /// Takes back what its members hold, so that no settlement is taken from now on. It must have been drained.
    /// </summary>
    /// <param name="isForced">Also while letters are on their way to the dead-letter topic.</param>
    /// <returns>Whether it has.</returns>
    internal virtual bool TryTakeBack(bool isForced) => true;

    /// <summary>The state, if it changed since the last call.</summary>
    internal bool TryTakeState(out GroupState state)
    {
        lock (Gate)
        {
            bool isWanted = IsDirty && !_isRetired;
            if (isWanted)
                _used = Now;
            state = isWanted ? Whole() : default;
            IsDirty = false;
            return isWanted;
        }
    }

    /// <summary>Whether a member holds messages. Called under the gate.</summary>
    private protected abstract bool Holds(GroupMember member);

    /// <summary>
    /// Whether it is this member's turn: another one that had the partition before must first have let go of what it
    /// holds. Called under the gate.
    /// </summary>
    private protected bool MayTake(GroupMember member)
    {
        if (!IsExclusive)
            return true;
        if (Assignee != member)
            return false;
        foreach (GroupMember other in Members)
        {
            if (other != member && Holds(other))
                return false;
        }
        return true;
    }

    /// <summary>
    /// Whether a member that is no longer served has just let go of the last that it held. Called under the gate.
    /// </summary>
    private protected bool HasHandedOver(GroupMember member) => IsExclusive && Assignee != member && !Holds(member);

    /// <summary>A member as it is now. Called under the gate.</summary>
    private protected MemberFigures FiguresOf(GroupMember member, long inFlight, uint maxInFlight) =>
        new(
            member.Owner.ConnectionId,
            member.Id,
            inFlight,
            maxInFlight,
            member.Credit,
            !IsExclusive || Assignee == member
        );

    private protected void WakeMembers()
    {
        GroupMember[] members;
        lock (Gate)
            members = [.. Members];
        foreach (GroupMember member in members)
            member.OnPublished();
    }

    /// <summary>What of a position no longer is what it was, as a gap for the members; and where to go on.</summary>
    private protected long CutBackTo(GroupState state, long seen)
    {
        LogGap cut = LogDivergence.Find(
            Partition.Log,
            seen,
            state.Epoch ?? Partition.Log.Epoch,
            Partition.Log.Incarnation
        );
        if (cut == default)
            return long.MaxValue;
        OpeningGaps.Enqueue(cut);
        IsDirty = true;
        return cut.FirstOffset;
    }
}
