namespace LightQ.Client.Administration;

/// <summary>Who leads a partition.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Partition">The partition.</param>
/// <param name="Node">The node that leads it; null while none does.</param>
/// <param name="Epoch">Grows with each new leader; 0 for a topic without replicas.</param>
/// <param name="Replicas">The topic's replicas; 1 for a topic that one node keeps alone.</param>
public sealed record PartitionLeaderInfo(string Topic, int Partition, string? Node, long Epoch, int Replicas);
