namespace LightQ.Protocol.Batches;

/// <summary>The fields of a batch header that the broker fills in when it appends.</summary>
/// <param name="BaseOffset">Offset of the first message.</param>
/// <param name="AppendTime">The broker's clock, unix microseconds; never decreases within a log.</param>
/// <param name="LeaderEpoch">The log's epoch.</param>
/// <param name="PreviousCrc">Header checksum of the batch before in the same segment, or the segment header's for the first.</param>
/// <param name="DurableBack"><paramref name="BaseOffset"/> minus the durable end at that moment, saturating.</param>
public readonly record struct BatchStamp(long BaseOffset, long AppendTime, uint LeaderEpoch, uint PreviousCrc, uint DurableBack);
