namespace LightQ.Client.Administration;

/// <summary>A partition that is to be led by another broker.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Partition">The partition.</param>
/// <param name="From">The broker that leads it.</param>
/// <param name="To">The broker that is to lead it.</param>
public sealed record PartitionMoveInfo(string Topic, int Partition, string From, string To);
