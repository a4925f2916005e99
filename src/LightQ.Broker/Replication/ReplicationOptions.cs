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

    /// <summary>The stream of a partition.</summary>
    public string StreamOf(Guid topicId, uint partition) => $"LQ_{Cluster}_{topicId:N}_{partition}";
}
