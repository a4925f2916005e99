namespace LightQ.Storage.Segments;

/// <summary>A place between two batches of a log.</summary>
/// <param name="Position">Log position.</param>
/// <param name="Offset">Offset of the message that follows.</param>
/// <param name="AppendTime">When the batch before was appended; 0 when there is none.</param>
/// <param name="Ordinal">The segment that holds the batch before (or that begins here).</param>
/// <param name="ChainCrc">What the next batch of that segment carries as previousCrc.</param>
internal readonly record struct LogEnd(long Position, long Offset, long AppendTime, long Ordinal, uint ChainCrc);
