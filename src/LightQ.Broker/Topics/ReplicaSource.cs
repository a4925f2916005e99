using LightQ.Broker.Catalog;
using LightQ.Broker.Groups;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Topics;

/// <summary>What is needed to give a topic replicas.</summary>
internal sealed record ReplicaSource
{
    /// <summary>Learns of it.</summary>
    public required TopicCatalog Catalog { get; init; }

    /// <summary>Opens the partitions again when it comes to nothing.</summary>
    public required PartitionOpener Opener { get; init; }

    /// <summary>Keeps positions.</summary>
    public required GroupRegistry Groups { get; init; }

    /// <summary>Makes the streams.</summary>
    public required Replicas Replicas { get; init; }

    /// <summary>Begins to look after a partition.</summary>
    public required Action<Partition> Serve { get; init; }

    /// <summary>The broker's settings.</summary>
    public required Func<BrokerOptions> Options { get; init; }

    /// <summary>The clock.</summary>
    public required TimeProvider Time { get; init; }

    /// <summary>The cluster.</summary>
    public ReplicationOptions Replication => Options().Replication!;
}
