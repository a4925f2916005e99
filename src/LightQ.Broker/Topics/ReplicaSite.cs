using LightQ.Broker.Cluster;
using LightQ.Broker.Groups;

namespace LightQ.Broker.Topics;

/// <summary>What the keepers of a broker share.</summary>
internal sealed record ReplicaSite
{
    /// <summary>The nodes.</summary>
    public required ClusterMembers Members { get; init; }

    /// <summary>Claims partitions.</summary>
    public required PartitionOpener Opener { get; init; }

    /// <summary>Keeps the positions of a partition that is given up.</summary>
    public required GroupRegistry Groups { get; init; }

    /// <summary>Begins to look after a partition that is led.</summary>
    public required Action<Partition> Serve { get; init; }

    /// <summary>Gets reports of partitions that are lost or cannot be opened.</summary>
    public required Func<IStorageEvents?> Events { get; init; }

    /// <summary>The clock.</summary>
    public required TimeProvider Time { get; init; }

    /// <summary>One handover at a time: each is a short silence, and a snapshot that the engine stores.</summary>
    public SemaphoreSlim Handovers { get; } = new(1, 1);

    /// <summary>So many nodes are asked at once to read what they are to take over.</summary>
    public SemaphoreSlim Preparations { get; } = new(4, 4);

    /// <summary>How long nodes wait for each other.</summary>
    public MemberOptions Options => Members.Options;
}
