namespace LightQ.Broker.Replication;

/// <summary>The newest owner of a partition that a node has heard of.</summary>
/// <param name="Epoch">Its epoch; 0 for none.</param>
/// <param name="End">One behind the last offset that it has said was confirmed.</param>
internal readonly record struct HeardOwner(uint Epoch, long End);
