namespace LightQ.Client.Administration;

/// <summary>A cluster as one of its nodes sees it.</summary>
/// <param name="Name">Its name; null for a broker without a cluster, which is then the only node.</param>
/// <param name="AnsweredBy">The node that answered.</param>
/// <param name="Engine">
/// What keeps the replicated log, with its version; null for a broker without a cluster.
/// </param>
/// <param name="Nodes">The nodes, by name. One that is silent for 10 minutes and leads nothing is left out.</param>
/// <param name="Partitions">The partitions of the topics that the caller may see, by topic and number.</param>
public sealed record ClusterInfo(
    string? Name,
    string AnsweredBy,
    string? Engine,
    IReadOnlyList<NodeInfo> Nodes,
    IReadOnlyList<PartitionLeaderInfo> Partitions
)
{
    /// <summary>
    /// What is wrong with it, as this node sees it and as the others say; of the topics that the caller may see.
    /// </summary>
    public IReadOnlyList<ClusterConditionInfo> Conditions { get; init; } = [];

    /// <summary>
    /// Whether the node that answered has just begun to listen to the others: they may lead what it names no leader of.
    /// </summary>
    public bool IsListening { get; init; }
}
