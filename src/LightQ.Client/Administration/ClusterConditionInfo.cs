namespace LightQ.Client.Administration;

/// <summary>Something that is wrong with a cluster.</summary>
/// <param name="Node">The node that says so.</param>
/// <param name="Kind">What it is, such as <c>stream-damaged</c>: docs/operate/cluster.md has them all.</param>
/// <param name="Subject">What it is about, such as <c>orders/0</c>.</param>
/// <param name="Detail">What was found.</param>
/// <param name="Remedy">What to do.</param>
/// <param name="IsFailure">Whether something does not work; else somebody should look at it.</param>
public sealed record ClusterConditionInfo(
    string Node,
    string Kind,
    string Subject,
    string Detail,
    string Remedy,
    bool IsFailure
);
