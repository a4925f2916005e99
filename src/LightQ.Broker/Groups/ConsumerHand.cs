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
    private readonly Lock _lock = new();
    private volatile ExplicitMember[] _members = [];
    private volatile Lease? _alone;
    private volatile ExplicitMember? _emptiesFor;
    private volatile bool _isFreed;

    /// <summary>Whether the consumer has one message, and gets no other until it has settled that.</summary>
    public bool IsAlone => _alone is not null;

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
        _isFreed |= TryWithdraw(member);
    }

    /// <summary>Whether a subscription may be given something.</summary>
    public bool Lets(ExplicitMember member) => _alone is null && (_emptiesFor is not { } other || other == member);

    /// <summary>
    /// Whether a subscription may be given a message alone; else it may once the consumer holds nothing.
    /// </summary>
    public bool TryEmptyFor(ExplicitMember member)
    {
        _emptiesFor = member;
        Interlocked.MemoryBarrier(); // Who frees the hand from now on sees it.
        if (!IsEmpty)
            return false;
        _emptiesFor = null;
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
    public void EndLook() => _isFreed |= _emptiesFor is null;

    /// <summary>A message was given alone.</summary>
    public void SetAlone(Lease lease) => _alone = lease;

    /// <summary>The consumer gets others beside the message that it was given alone.</summary>
    public void Join()
    {
        if (_alone is not null)
            (_alone, _isFreed) = (null, true);
    }

    /// <summary>Messages of a lease are settled, or the lease has ended.</summary>
    public void OnFreed(Lease lease, bool hasEnded)
    {
        if (hasEnded && _alone == lease)
            Join();
        if (_emptiesFor is null)
            return;
        Interlocked.MemoryBarrier();
        if (IsEmpty)
            _isFreed = true;
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
