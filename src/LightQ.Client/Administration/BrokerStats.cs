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
}
