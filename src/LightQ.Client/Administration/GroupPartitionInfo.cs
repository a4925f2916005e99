namespace LightQ.Client.Administration;

/// <summary>A consumer group on one partition.</summary>
public sealed record GroupPartitionInfo
{
    /// <summary>The partition.</summary>
    public int Partition { get; init; }

    /// <summary>The lowest offset that is not settled; -1 before the first delivery.</summary>
    public long CommittedOffset { get; init; }

    /// <summary>The first offset that was not yet delivered to any member.</summary>
    public long NextOffset { get; init; }

    /// <summary>The offset after the last that consumers may see.</summary>
    public long EndOffset { get; init; }

    /// <summary>Messages that members hold.</summary>
    public long InFlight { get; init; }

    /// <summary>Ranges of messages that are ready to be redelivered.</summary>
    public int RedeliveriesReady { get; init; }

    /// <summary>Ranges of messages that are redelivered later.</summary>
    public int RedeliveriesDelayed { get; init; }

    /// <summary>When the first of the delayed ranges is redelivered; null when there is none.</summary>
    public DateTimeOffset? NextRedelivery { get; init; }

    /// <summary>When the first lock expires; null when members hold nothing.</summary>
    public DateTimeOffset? FirstLockEnd { get; init; }

    /// <summary>Ranges of messages on their way to the dead-letter topic.</summary>
    public int DeadLettersWaiting { get; init; }

    /// <summary>The members.</summary>
    public IReadOnlyList<GroupMemberInfo> Members { get; init; } = [];
}
