namespace LightQ.Broker.Replication;

/// <summary>What is to be stored of a partition's state when everything in front of a place of its ring is.</summary>
/// <param name="Kind">A snapshot, or positions of groups.</param>
/// <param name="Position">The place.</param>
/// <param name="EndOffset">One behind the last offset in front of it.</param>
/// <param name="AppendTime">When the last batch in front of it was appended.</param>
/// <param name="Bodies">
/// The parts of the snapshot, or positions that each count by themselves: an entry for each.
/// </param>
internal sealed record PendingEntry(
    EntryKind Kind,
    long Position,
    long EndOffset,
    long AppendTime,
    IReadOnlyList<ReadOnlyMemory<byte>> Bodies
);
