namespace LightQ.Client.Administration;

/// <summary>The current state of a topic.</summary>
/// <param name="Spec">The topic's name and every setting in force, with the broker's defaults filled in.</param>
/// <param name="Id">32 hexadecimal digits. A topic that is created again with the same name has another id.</param>
/// <param name="CreateTime">When it was created.</param>
/// <param name="StartOffsets">
/// The first offset that each partition holds; -1 for a partition that the broker could not open.
/// </param>
/// <param name="EndOffsets">
/// The offset after the last of each partition; -1 for a partition that the broker could not open.
/// </param>
/// <param name="Failure">Why the topic accepts no messages; empty when it does.</param>
public sealed record TopicInfo(
    TopicSpec Spec,
    string Id,
    DateTimeOffset CreateTime,
    IReadOnlyList<long> StartOffsets,
    IReadOnlyList<long> EndOffsets,
    string Failure
)
{
    /// <summary>The damage that the broker has found since it started. Consumers get a gap there.</summary>
    public IReadOnlyList<DamagedRange> Damage { get; init; } = [];

    /// <summary>The partitions that the broker could not open at its start; the others are served.</summary>
    public IReadOnlyList<RefusedPartition> RefusedPartitions { get; init; } = [];

    /// <summary>The topic's name.</summary>
    public string Name => Spec.Name;
}
