namespace LightQ.Client.Administration;

/// <summary>The current state of a consumer group.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Group">The group's name.</param>
/// <param name="SettleMode">Whether the broker or the client settles messages.</param>
/// <param name="IsPaused">Whether deliveries are stopped.</param>
/// <param name="MembersCount">
/// Members, counted by subscriptions: a consumer has one on every partition that it reads.
/// </param>
/// <param name="Lag">
/// Messages of the topic that the group has not settled, those that members hold included. The figure does not depend
/// on whether the group has members.
/// </param>
public sealed record GroupInfo(
    string Topic,
    string Group,
    SettleMode SettleMode,
    bool IsPaused,
    int MembersCount,
    long Lag
)
{
    /// <summary>The partitions, in order; empty in a list of groups.</summary>
    public IReadOnlyList<GroupPartitionInfo> Partitions { get; init; } = [];

    /// <summary>Clients that are members, each counted once, no matter how many partitions it reads.</summary>
    public int ClientsCount { get; init; }

    /// <summary>The clients, by connection; empty in a list of groups.</summary>
    public IReadOnlyList<GroupClientInfo> Clients { get; init; } = [];

    /// <summary>
    /// The age of the oldest message that is not settled, counted from when it was appended. Zero when all are settled,
    /// null when the age could not be read within a second.
    /// </summary>
    public TimeSpan? OldestUnsettledAge { get; init; }

    /// <summary>Messages that members hold.</summary>
    public long InFlight { get; init; }

    /// <summary>Deliveries to members since the broker started: a message counts each time.</summary>
    public long Delivered { get; init; }

    /// <summary>Those deliveries whose message a member had received before.</summary>
    public long Redelivered { get; init; }

    /// <summary>Messages that were dead-lettered since the broker started and are in the dead-letter topic.</summary>
    public long DeadLettered { get; init; }
}
