namespace LightQ.Client.Administration;

/// <summary>A partition whose replicated log has lost something, and what is done about it.</summary>
/// <param name="Partition">Its number.</param>
/// <param name="Damage">What was found.</param>
/// <param name="Node">The node that has the longest copy; null when none answers that has one.</param>
/// <param name="FirstOffset">The first offset of that copy.</param>
/// <param name="EndOffset">One behind its last offset.</param>
/// <param name="IsDone">Whether the log is written.</param>
/// <param name="Failure">Why not; empty when it is, or was not tried.</param>
public sealed record PartitionRepairInfo(
    int Partition,
    string Damage,
    string? Node,
    long FirstOffset,
    long EndOffset,
    bool IsDone,
    string Failure
);
