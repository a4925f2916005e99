namespace LightQ.Broker.Replication;

/// <summary>A partition's state at one place of its ring, to be stored when everything in front is.</summary>
/// <param name="Position">The place.</param>
/// <param name="EndOffset">One behind the last offset in front of it.</param>
/// <param name="AppendTime">When the last batch in front of it was appended.</param>
/// <param name="State">The state.</param>
internal sealed record PendingSnapshot(long Position, long EndOffset, long AppendTime, byte[] State);
