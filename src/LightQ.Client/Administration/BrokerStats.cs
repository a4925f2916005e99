namespace LightQ.Client.Administration;

/// <summary>The broker's figures at one moment. Counts are since its start.</summary>
public sealed record BrokerStats
{
    /// <summary>The broker's version.</summary>
    public required string Version { get; init; }

    /// <summary>Identifies the broker's data directory: 32 hexadecimal digits.</summary>
    public required string BrokerId { get; init; }

    /// <summary>When the broker started.</summary>
    public required DateTimeOffset StartTime { get; init; }

    /// <summary>Number of topics.</summary>
    public int TopicsCount { get; init; }

    /// <summary>Open data-plane connections.</summary>
    public int ConnectionsCount { get; init; }

    /// <summary>Open producers.</summary>
    public int PublishersCount { get; init; }

    /// <summary>Open subscriptions.</summary>
    public int SubscribersCount { get; init; }

    /// <summary>Messages appended to all topics.</summary>
    public long MessagesReceived { get; init; }

    /// <summary>Messages sent to all subscribers.</summary>
    public long MessagesSent { get; init; }

    /// <summary>Bytes of batches appended.</summary>
    public long TotalBytesWritten { get; init; }

    /// <summary>Bytes of batches sent.</summary>
    public long TotalBytesRead { get; init; }

    /// <summary>Resident memory of the process, in bytes.</summary>
    public long ResidentBytes { get; init; }

    /// <summary>The data-plane port in use.</summary>
    public int DataPort { get; init; }

    /// <summary>
    /// Whether only admin may log in, because a repair of the catalog is not confirmed; see
    /// <see cref="OperationsClient.ConfirmCatalogAsync"/>.
    /// </summary>
    public bool IsCatalogUnconfirmed { get; init; }

    /// <summary>When these figures were read.</summary>
    public DateTimeOffset Time { get; init; }

    /// <summary>Syncs of journals, each of which makes everything durable that was written before it.</summary>
    public long Syncs { get; init; }

    /// <summary>Time that these syncs took.</summary>
    public TimeSpan SyncTime { get; init; }

    /// <summary>
    /// Half of the syncs took no longer: of those since the reading before of a watch, otherwise of those since the
    /// start. Null without a sync.
    /// </summary>
    public TimeSpan? SyncTimeP50 { get; init; }

    /// <summary>All but one in a hundred took no longer, likewise.</summary>
    public TimeSpan? SyncTimeP99 { get; init; }

    /// <summary>Bytes that the disk under the data directory still takes.</summary>
    public long DiskFreeBytes { get; init; }

    /// <summary>Bytes of durable topics on that disk.</summary>
    public long DiskUsedBytes { get; init; }

    /// <summary>
    /// <c>ready</c>, <c>ready, degraded: </c> and why, or why the broker takes no work; empty from a broker that is
    /// older than this.
    /// </summary>
    public string Health { get; init; } = "";

    /// <summary>
    /// By how much the clock of the broker's machine was set, forward above zero, while the broker goes on by its own
    /// time; null otherwise.
    /// </summary>
    public TimeSpan? ClockStep { get; init; }
}
