using LightQ.Broker.Cluster;

namespace LightQ.Broker.Replication;

/// <summary>What a broker needs for topics with replicas.</summary>
internal sealed record ReplicationOptions
{
    /// <summary>Keeps their streams. The broker does not dispose it.</summary>
    public required IReplicationEngine Engine { get; init; }

    /// <summary>The cluster's name: brokers of one name share their streams.</summary>
    public required string Cluster { get; init; }

    /// <summary>This broker's name within it.</summary>
    public required string Node { get; init; }

    /// <summary><c>host:port</c> at which clients find this broker; empty where that is told later.</summary>
    public string DataAddress { get; init; } = "";

    /// <summary><c>host:port</c> of its control plane, likewise.</summary>
    public string ControlAddress { get; init; } = "";

    /// <summary>
    /// Whether the broker takes part only when <see cref="ClusterMembers.Advertise"/> is called: its ports are not open
    /// yet.
    /// </summary>
    public bool IsAdvertisedLater { get; init; }

    /// <summary>The broker's version, for the others to see.</summary>
    public string Version { get; init; } = "";

    /// <summary>How long nodes wait for each other.</summary>
    public MemberOptions Members { get; init; } = new();

    /// <summary>Gets reports of who comes and goes; null for none.</summary>
    public IClusterEvents? Events
    {
        get;
        init
        {
            field = value;
            Conditions.Events = value;
        }
    }

    /// <summary>What is wrong with the cluster; one for all copies of these options.</summary>
    public ClusterConditions Conditions { get; } = new();

    /// <summary>
    /// How long a catalog that has lost something must look so: an engine that has just elected a leader may not know
    /// its end for a moment.
    /// </summary>
    public TimeSpan LostAfter { get; init; } = TimeSpan.FromMilliseconds(800);

    /// <summary>On how many of the engine's nodes the catalog is: 1, 3 or 5. Default 3.</summary>
    public int CatalogReplicas { get; init; } = 3;

    /// <summary>How long a start tries to read the catalog, and a change to store its record.</summary>
    public TimeSpan CatalogPatience { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>The records of the catalog after which the whole of it is written again. Default 1,000.</summary>
    public int RecordsPerCopy { get; init; } = 1_000;

    /// <summary>The stream of the catalog.</summary>
    public string CatalogStream => $"{StreamPrefix}catalog";

    /// <summary>What the names of the cluster's streams begin with.</summary>
    public string StreamPrefix => $"LQ_{Cluster}_";

    /// <summary>
    /// Whether topics with replicas are made only while the engine syncs before it acknowledges. Default: false.
    /// </summary>
    public bool RequireSync { get; init; }

    /// <summary>Demands that the engine syncs before it acknowledges, if it must.</summary>
    /// <exception cref="BrokerException">It does not: <see cref="ErrorCode.NotSupported"/>.</exception>
    public async Task DemandSyncAsync(uint replicas, CancellationToken cancellationToken)
    {
        if (RequireSync && await Engine.FindUnsyncedAsync(cancellationToken).ConfigureAwait(false) is { } reason)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"replicas {replicas} needs servers that sync before they acknowledge, and {reason}. Set "
                    + "'sync_interval: always' in the jetstream block of every nats-server and Cluster:Monitoring to "
                    + "the monitoring ports of all of them; or set Cluster:RequireSync to false: then a power cut of "
                    + "all servers may lose up to 2 minutes of what was acknowledged. See docs/operate/cluster.md."
            );
        }
    }

    /// <summary>Demands that the engine stores batches of a topic's limit.</summary>
    /// <exception cref="ReplicationException">It does not.</exception>
    public void Demand(int maxBatchBytes)
    {
        if (maxBatchBytes > Engine.MaxEntryBytes)
        {
            throw new ReplicationException(
                $"{Engine.Description} takes entries of at most {Engine.MaxEntryBytes} bytes, and the topic has "
                    + $"batches of up to {maxBatchBytes}: raise max_payload of its servers, or lower max_message_bytes."
            );
        }
    }

    /// <summary>The stream of a partition.</summary>
    public string StreamOf(Guid topicId, uint partition) => $"{StreamPrefix}{topicId:N}_{partition}";
}
