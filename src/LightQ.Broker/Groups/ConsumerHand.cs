namespace LightQ.Broker.Groups;

/// <summary>
/// What the subscriptions of one consumer share, one a partition: whether it has a message that is given alone, or is
/// to get one once it holds nothing else.
/// </summary>
/// <remarks>
/// Each subscription's group has a gate of its own. Messages are given in the connection's output turn, so to one of
/// them at a time; settlements and locks that run out come from other threads, and only ever free the hand.
/// </remarks>
internal sealed class ConsumerHand
{
    private const long Never = long.MaxValue;

    private readonly Lock _lock = new();
    private volatile ExplicitMember[] _members = [];
    private volatile Lease? _alone;
    private volatile ExplicitMember? _emptiesFor;
    private volatile bool _joins;
    private volatile bool _hasWaited;
    private volatile bool _isFreed;
    private long _until = Never;

    /// <summary>Whether the consumer has one message, and gets no other until it has settled that.</summary>
    public bool IsAlone => _alone is not null;

    /// <summary>When it is lifted that something is alone, or waits for that, in unix microseconds.</summary>
    public long Until
    {
        get => Volatile.Read(ref _until);
        private set => Volatile.Write(ref _until, value);
    }

    private bool IsEmpty
    {
        get
        {
            foreach (ExplicitMember member in _members)
            {
                if (member.InFlight != 0)
                    return false;
            }
            return true;
        }
    }

    /// <summary>Adds a subscription of the consumer.</summary>
    public void Add(ExplicitMember member)
    {
        lock (_lock)
            _members = [.. _members, member];
    }

    /// <summary>A subscription of the consumer has ended.</summary>
    public void Remove(ExplicitMember member)
    {
        lock (_lock)
            _members = [.. _members.Where(m => m != member)];
        if (TryWithdraw(member))
            EndLook();
    }

    /// <summary>Whether a subscription may be given something.</summary>
    public bool Lets(ExplicitMember member) => _alone is null && (_emptiesFor is not { } other || other == member);

    /// <summary>
    /// Whether a subscription may be given a message alone; else it may once the consumer holds nothing, or did not
    /// come to that for a while.
    /// </summary>
    /// <param name="member">The subscription.</param>
    /// <param name="now">Unix microseconds.</param>
    /// <param name="patience">For how long it waits, in microseconds.</param>
    public bool TryEmptyFor(ExplicitMember member, long now, long patience)
    {
        if (_joins)
            return true;
        _emptiesFor = member;
        Interlocked.MemoryBarrier(); // Who frees the hand from now on sees it.
        if (!_hasWaited && !IsEmpty)
        {
            if (Until == Never)
                Until = now + patience;
            return false;
        }
        (_emptiesFor, _hasWaited, Until) = (null, false, Never);
        return true;
    }

    /// <summary>A subscription looks again whether it must be given a message alone.</summary>
    /// <returns>Whether the others waited for it.</returns>
    public bool TryWithdraw(ExplicitMember member)
    {
        if (_emptiesFor != member)
            return false;
        _emptiesFor = null;
        return true;
    }

    /// <summary>A subscription that withdrew has looked: the others may go on unless it waits again.</summary>
    public void EndLook()
    {
        if (_emptiesFor is not null)
            return;
        if (_alone is null)
            (_hasWaited, Until) = (false, Never);
        _isFreed = true;
    }

    /// <summary>A message was given alone.</summary>
    /// <param name="lease">Its lease.</param>
    /// <param name="until">Until when it is alone at most.</param>
    public void SetAlone(Lease lease, long until)
    {
        if (!_joins)
            (_alone, Until) = (lease, until);
    }

    /// <summary>The consumer gets all messages beside those that it holds, until it holds none.</summary>
    public void Join()
    {
        if (IsEmpty)
            return;
        (_joins, _alone, _emptiesFor, _hasWaited, Until) = (true, null, null, false, Never);
        _isFreed = true;
    }

    /// <summary>Lifts what was to last until now.</summary>
    /// <returns>Whether there was something.</returns>
    public bool TryLift(long now)
    {
        if (Until > now)
            return false;
        if (_alone is not null)
            Join();
        else
            (_hasWaited, _isFreed, Until) = (true, true, Never);
        return true;
    }

    /// <summary>Messages of a lease are settled, or the lease has ended.</summary>
    public void OnFreed(Lease lease, bool hasEnded)
    {
        if (hasEnded && _alone == lease)
            (_alone, Until, _isFreed) = (null, Never, true);
        if (_emptiesFor is null && !_joins)
            return;
        Interlocked.MemoryBarrier();
        if (IsEmpty)
            (_joins, _isFreed) = (false, true);
    }

    /// <summary>Wakes the subscriptions if they may be given something again. Not called under a gate.</summary>
    public void Wake()
    {
        if (!_isFreed)
            return;
        _isFreed = false;
        foreach (ExplicitMember member in _members)
            member.OnPublished();
    }
}
