namespace LightQ.Broker.Replication;

/// <summary>A partition that was claimed, as it was when the claim was stored.</summary>
/// <param name="Epoch">The owner's epoch.</param>
/// <param name="Sequence">The claim's sequence: the first append follows it.</param>
/// <param name="NextOffset">The offset of the next message.</param>
/// <param name="AppendTime">When the last batch was appended, in unix microseconds.</param>
/// <param name="ConfirmedSnapshot">The sequence of the last snapshot that counts; 0 for none.</param>
/// <param name="Tail">The entries between that snapshot and the claim.</param>
internal readonly record struct Ownership(
    uint Epoch,
    ulong Sequence,
    long NextOffset,
    long AppendTime,
    ulong ConfirmedSnapshot,
    StreamTail Tail
);
