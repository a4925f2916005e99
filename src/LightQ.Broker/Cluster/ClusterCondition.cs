namespace LightQ.Broker.Cluster;

/// <summary>Something that is wrong with the cluster, as one node sees it.</summary>
/// <param name="Kind">The <see cref="ConditionKind.Name"/> of what it is.</param>
/// <param name="Subject">What it is about, such as <c>orders/0</c>; one of a kind for each.</param>
/// <param name="Detail">What was found.</param>
/// <param name="Remedy">What to do.</param>
internal sealed record ClusterCondition(string Kind, string Subject, string Detail, string Remedy)
{
    /// <summary>The topic that it is about: only those who may see that see it. Empty for none.</summary>
    public string Topic { get; init; } = "";

    /// <summary>Whether something does not work; else somebody should look at it.</summary>
    public bool IsFailure { get; init; }
}
