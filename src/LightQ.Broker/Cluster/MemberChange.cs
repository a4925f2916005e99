namespace LightQ.Broker.Cluster;

/// <summary>What a message has changed.</summary>
internal sealed class MemberChange
{
    /// <summary>Whether a node came, went, or is something else now, which may concern every partition.</summary>
    public bool IsOfNodes { get; set; }

    /// <summary>Nodes that came.</summary>
    public List<Member> Joined { get; } = [];

    /// <summary>Nodes that went.</summary>
    public List<Member> Gone { get; } = [];

    /// <summary>Partitions of which something is new.</summary>
    public HashSet<PartitionId> Partitions { get; } = [];
}
