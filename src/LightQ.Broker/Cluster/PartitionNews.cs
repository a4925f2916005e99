namespace LightQ.Broker.Cluster;

/// <summary>What a node says of a partition.</summary>
/// <param name="Topic">The topic's id.</param>
/// <param name="Partition">Its number within the topic.</param>
/// <param name="Stand">What the node is to it.</param>
/// <param name="Epoch">The epoch in which it leads or led; 0 for none.</param>
/// <param name="To">The node that it was released to; empty for none in particular.</param>
/// <param name="IsPinned">Whether an operator wished that this node, or <paramref name="To"/>, leads it.</param>
internal sealed record PartitionNews(
    Guid Topic,
    uint Partition,
    PartitionStand Stand,
    uint Epoch = 0,
    string To = "",
    bool IsPinned = false
)
{
    /// <summary>The partition.</summary>
    [System.Text.Json.Serialization.JsonIgnore]
    public PartitionId Id => new(Topic, Partition);
}
