namespace LightQ.Broker.Cluster;

/// <summary>A partition of a topic, as nodes name it to each other.</summary>
/// <param name="Topic">The topic's id.</param>
/// <param name="Partition">Its number within the topic.</param>
internal readonly record struct PartitionId(Guid Topic, uint Partition);
