namespace LightQ.Broker.Cluster;

/// <summary>A node that is to take a partition over, as it says itself.</summary>
/// <param name="Node">Its name.</param>
/// <param name="Stand">
/// <see cref="PartitionStand.Prepares"/>, <see cref="PartitionStand.Ready"/> or <see cref="PartitionStand.Unable"/>.
/// </param>
/// <param name="Left">The entries that it has yet to read; null for an unknown number.</param>
internal readonly record struct Taker(string Node, PartitionStand Stand, long? Left);
