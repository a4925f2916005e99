namespace LightQ.Client.Administration;

/// <summary>A topic as it is.</summary>
/// <param name="Spec">Its name and every setting in force, the broker's defaults filled in.</param>
/// <param name="Id">32 hexadecimal digits; a topic made again under the same name has another.</param>
/// <param name="CreateTime">When it was created.</param>
/// <param name="StartOffsets">The first offset that each partition holds; -1 for one that is refused.</param>
/// <param name="EndOffsets">One behind the last offset of each partition; -1 for one that is refused.</param>
/// <param name="Failure">Why it takes no messages; empty when it does.</param>
public sealed record TopicInfo(
    TopicSpec Spec,
    string Id,
    DateTimeOffset CreateTime,
    IReadOnlyList<long> StartOffsets,
    IReadOnlyList<long> EndOffsets,
    string Failure
)
{
    /// <summary>What was found damaged since the broker started. Consumers get a gap there.</summary>
    public IReadOnlyList<DamagedRange> Damage { get; init; } = [];

    /// <summary>The partitions that the broker could not open at its start; the others are served.</summary>
    public IReadOnlyList<RefusedPartition> RefusedPartitions { get; init; } = [];

    /// <summary>The topic's name.</summary>
    public string Name => Spec.Name;
}
