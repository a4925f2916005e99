namespace LightQ.Broker.Groups;

/// <summary>A group on one partition, as it is at a moment.</summary>
public sealed record GroupFigures
{
    /// <summary>The partition.</summary>
    public uint Partition { get; init; }

    /// <summary>The lowest offset that is not settled; -1 before the first delivery.</summary>
    public long Committed { get; init; }

    /// <summary>The first offset that no member was given.</summary>
    public long Next { get; init; }

    /// <summary>One behind the last offset that consumers may see.</summary>
    public long End { get; init; }

    /// <summary>Messages that members hold.</summary>
    public long InFlight { get; init; }

    /// <summary>The lowest message that a member holds; null for none.</summary>
    public HeldOffset? Lowest { get; init; }

    /// <summary>
    /// How long nothing was completed while something was to be; null where members do not settle.
    /// </summary>
    public TimeSpan? Idle { get; init; }

    /// <summary>Ranges of messages that are redelivered at once.</summary>
    public int RedeliveriesReady { get; init; }

    /// <summary>Ranges of messages that are redelivered later.</summary>
    public int RedeliveriesDelayed { get; init; }

    /// <summary>When the first of those comes; null when there is none.</summary>
    public DateTimeOffset? NextRedelivery { get; init; }

    /// <summary>When the first lock runs out; null when members hold nothing.</summary>
    public DateTimeOffset? FirstLockEnd { get; init; }

    /// <summary>Ranges of messages on their way to the dead-letter topic.</summary>
    public int DeadLettersWaiting { get; init; }

    /// <summary>Whether what is not settled lies in so many pieces that nothing new is delivered.</summary>
    public bool HasTooManyPieces { get; init; }

    /// <summary>Whether a member waits for the disk.</summary>
    public bool IsReading { get; init; }

    /// <summary>The members.</summary>
    public IReadOnlyList<MemberFigures> Members { get; init; } = [];

    /// <summary>Messages that are held and not settled, those that members hold included.</summary>
    public long Lag { get; init; }

    /// <summary>What members were given, and what became of it.</summary>
    public GroupCounts Counts { get; init; }
}
