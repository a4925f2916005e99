namespace LightQ.Broker.Cluster;

/// <summary>A partition, as far as its place is concerned.</summary>
/// <param name="Id">The partition.</param>
/// <param name="Holder">The node that leads it, is claiming it, or is about to; empty for none.</param>
/// <param name="IsPinned">Whether an operator wished that node.</param>
/// <param name="Unable">The nodes that cannot serve it.</param>
internal readonly record struct PlacedPartition(
    PartitionId Id,
    string Holder,
    bool IsPinned,
    IReadOnlyCollection<string> Unable
);
