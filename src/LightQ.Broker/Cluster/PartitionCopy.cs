namespace LightQ.Broker.Cluster;

/// <summary>What a node holds of a partition, and what it has found wrong with the partition's stream.</summary>
/// <param name="Loss">What the stream has lost; empty while nothing was found.</param>
/// <param name="First">The first offset of the node's copy.</param>
/// <param name="End">One behind the last; 0 for a node that has none.</param>
/// <param name="IsLeader">Whether it leads the partition: then it knows what groups have settled, too.</param>
/// <param name="IsRepairing">Whether it writes the stream anew.</param>
/// <param name="Failure">Why the last attempt of that came to nothing; empty for none.</param>
internal sealed record PartitionCopy(
    string Loss,
    long First,
    long End,
    bool IsLeader = false,
    bool IsRepairing = false,
    string Failure = ""
);
