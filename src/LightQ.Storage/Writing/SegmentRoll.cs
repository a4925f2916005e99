using LightQ.Storage.Segments;

namespace LightQ.Storage.Writing;

/// <summary>The appender's decision that a new segment begins; the writer carries it out when it gets there.</summary>
/// <param name="Header">The new segment's header, whose checksum the first batch already refers to.</param>
/// <param name="FileBytes">How large the file is to be.</param>
/// <param name="Index">Where the appender notes the segment's batches.</param>
/// <param name="Producers">The state of idempotent producers at the boundary, or null.</param>
internal sealed record SegmentRoll(SegmentHeader Header, int FileBytes, SegmentIndex Index, byte[]? Producers);
