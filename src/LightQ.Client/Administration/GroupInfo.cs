namespace LightQ.Client.Administration;

/// <summary>A consumer group as it stands.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Group">The group's name.</param>
/// <param name="SettleMode">Who says that a message is done.</param>
/// <param name="IsPaused">Whether deliveries are stopped.</param>
/// <param name="MembersCount">
/// Members, counted by subscriptions: a consumer has one on every partition it reads.
/// </param>
/// <param name="Lag">
/// Messages that are held and not settled, those that members hold included; the same with members and without.
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

    /// <summary>Clients that are members, each counted once, however many partitions it reads.</summary>
    public int ClientsCount { get; init; }

    /// <summary>The clients, by connection; empty in a list of groups.</summary>
    public IReadOnlyList<GroupClientInfo> Clients { get; init; } = [];

    /// <summary>
    /// How long ago the oldest message was appended that is not settled; zero when all are, null when that could not be
    /// read within a second.
    /// </summary>
    public TimeSpan? OldestUnsettledAge { get; init; }

    /// <summary>Messages that members hold.</summary>
    public long InFlight { get; init; }

    /// <summary>Messages that members were given since the broker started, each time counted.</summary>
    public long Delivered { get; init; }

    /// <summary>Those of them that a member had been given before.</summary>
    public long Redelivered { get; init; }

    /// <summary>Messages that were given up since the broker started, and are in the dead-letter topic.</summary>
    public long DeadLettered { get; init; }
}
