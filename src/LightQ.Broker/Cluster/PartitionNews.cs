namespace LightQ.Broker.Cluster;

/// <summary>What a node says of a partition.</summary>
/// <param name="Topic">The topic's id.</param>
/// <param name="Partition">Its number within the topic.</param>
/// <param name="Stand">What the node is to it.</param>
/// <param name="Epoch">The epoch in which it leads or led; 0 for none.</param>
/// <param name="To">
/// The node that it was released to, or is to be handed over to; empty for none in particular.
/// </param>
/// <param name="IsPinned">Whether an operator wished that this node, or <paramref name="To"/>, leads it.</param>
/// <param name="Left">
/// Of a node that is to take it over: the entries of the stream that it has yet to read. Null for an unknown number.
/// </param>
/// <param name="IsLent">
/// Of a node that wants it, or is to take it over: it led the partition, and gave it up only because it could not
/// serve it.
/// </param>
/// <param name="End">Of a node that leads or led it: one behind the last offset that the stream had confirmed.</param>
internal sealed record PartitionNews(
    Guid Topic,
    uint Partition,
    PartitionStand Stand,
    uint Epoch = 0,
    string To = "",
    bool IsPinned = false,
    long? Left = null,
    bool IsLent = false,
    long End = 0
)
{
    /// <summary>The partition.</summary>
    [System.Text.Json.Serialization.JsonIgnore]
    public PartitionId Id => new(Topic, Partition);
}
