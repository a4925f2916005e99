namespace LightQ.Client.Administration;

/// <summary>A consumer group on one partition.</summary>
public sealed record GroupPartitionInfo
{
    /// <summary>The partition.</summary>
    public int Partition { get; init; }

    /// <summary>The lowest offset that is not settled; -1 before the first delivery.</summary>
    public long CommittedOffset { get; init; }

    /// <summary>The first offset that no member was given.</summary>
    public long NextOffset { get; init; }

    /// <summary>One behind the last offset that consumers may see.</summary>
    public long EndOffset { get; init; }

    /// <summary>Messages that members hold.</summary>
    public long InFlight { get; init; }

    /// <summary>Ranges of messages that come again at once.</summary>
    public int RedeliveriesReady { get; init; }

    /// <summary>Ranges of messages that come again later.</summary>
    public int RedeliveriesDelayed { get; init; }

    /// <summary>When the first of those comes; null when there is none.</summary>
    public DateTimeOffset? NextRedelivery { get; init; }

    /// <summary>When the first lock runs out; null when members hold nothing.</summary>
    public DateTimeOffset? FirstLockEnd { get; init; }

    /// <summary>Ranges of messages on their way to the dead-letter topic.</summary>
    public int DeadLettersWaiting { get; init; }

    /// <summary>The members.</summary>
    public IReadOnlyList<GroupMemberInfo> Members { get; init; } = [];
}
