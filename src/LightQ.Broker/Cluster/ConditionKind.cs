namespace LightQ.Broker.Cluster;

/// <summary>
/// A kind of <see cref="ClusterCondition"/>: the one place that says how log, doctor, status and health name it. A new
/// kind is a line here, and a row in docs/operate/cluster.md.
/// </summary>
/// <param name="Name">For programs, such as <c>stream-damaged</c>.</param>
/// <param name="Summary">
/// What health says of any number of such conditions. Every client can read it, so it names no topic.
/// </param>
/// <param name="IsFailure">Whether something does not work; else somebody should look at it.</param>
/// <param name="EndsReadiness">Whether the broker is not ready while it lasts.</param>
internal sealed record ConditionKind(string Name, string Summary, bool IsFailure = true, bool EndsReadiness = false)
{
    /// <summary>The catalog lacks what this node has applied, or is that of another cluster.</summary>
    public static readonly ConditionKind CatalogLost = new(
        "catalog-lost",
        "the cluster's catalog has lost what this broker knows of it, or is another one",
        EndsReadiness: true
    );

    /// <summary>The node's disk has no room for what it leads.</summary>
    public static readonly ConditionKind DiskFull = new(
        "disk-full",
        "the broker's disk is full: other brokers lead what they can, and what none can takes no messages"
    );

    /// <summary>The node cannot read the catalog, and does not know what others have changed.</summary>
    public static readonly ConditionKind CatalogUnread = new(
        "catalog-unread",
        "the broker cannot read the cluster's catalog: other brokers lead what they can"
    );

    /// <summary>The node cannot keep its copy of a partition, which another node is to lead.</summary>
    public static readonly ConditionKind CopyFailed = new(
        "copy-failed",
        "the broker's own copies of partitions have failed: other brokers lead these if they can"
    );

    /// <summary>A node of the engine is not there.</summary>
    public static readonly ConditionKind EngineNodeOffline = new(
        "engine-node-offline",
        "servers of the replicated log are offline",
        IsFailure: false
    );

    /// <summary>A node of the engine stores nothing.</summary>
    public static readonly ConditionKind EngineNodeOff = new(
        "engine-node-off",
        "servers of the replicated log have switched JetStream off"
    );

    /// <summary>A replica of streams lacks what the others have.</summary>
    public static readonly ConditionKind EngineReplicaLags = new(
        "engine-replica-lags",
        "replicas of the replicated log lag behind",
        IsFailure: false
    );

    /// <summary>A limit of the engine is nearly reached.</summary>
    public static readonly ConditionKind EngineLimitNear = new(
        "engine-limit-near",
        "the replicated log has nearly reached a limit",
        IsFailure: false
    );

    /// <summary>The engine takes nothing more.</summary>
    public static readonly ConditionKind EngineFull = new(
        "engine-full",
        "the replicated log has reached a limit and takes no messages"
    );

    /// <summary>Streams have no leader within the engine.</summary>
    public static readonly ConditionKind EngineNoLeader = new(
        "engine-no-leader",
        "streams of the replicated log have no leader among its servers"
    );

    /// <summary>Another node cannot be called, or does not take this one for a node.</summary>
    public static readonly ConditionKind NodeUntrusted = new(
        "node-untrusted",
        "other brokers cannot be called or do not trust this one: what they would have to answer fails"
    );

    /// <summary>The clock of another node differs much from this node's.</summary>
    public static readonly ConditionKind ClockDiffers = new(
        "clock-differs",
        "the clocks of brokers differ",
        IsFailure: false
    );

    /// <summary>A partition's stream lacks what it must have.</summary>
    public static readonly ConditionKind StreamDamaged = new(
        "stream-damaged",
        "the replicated logs of partitions have lost something: these take no messages"
    );

    /// <summary>No node has led a partition for a while.</summary>
    public static readonly ConditionKind PartitionUnled = new(
        "partition-unled",
        "no broker leads some partitions: these take no messages"
    );

    /// <summary>The engine has streams of the cluster that belong to no topic.</summary>
    public static readonly ConditionKind UnknownStreams = new(
        "unknown-streams",
        "the engine has streams that belong to no topic",
        IsFailure: false
    );
}
