namespace LightQ.Protocol.Batches;

/// <summary>The fields of a batch header that the broker fills in when it appends.</summary>
/// <param name="BaseOffset">Offset of the first message.</param>
/// <param name="AppendTime">The broker's clock, unix microseconds; never decreases within a log.</param>
/// <param name="LeaderEpoch">The log's epoch.</param>
/// <param name="PreviousCrc">
/// Header checksum of the batch before in the same segment, or the segment header's for the first.
/// </param>
/// <param name="DurableBack"><paramref name="BaseOffset"/> minus the durable end at that moment, saturating.</param>
/// <param name="Mac">
/// Message authentication code of the batch's place under the log's own key; 0 where no journal keeps it. Only the log
/// can check it.
/// </param>
public readonly record struct BatchStamp(
    long BaseOffset,
    long AppendTime,
    uint LeaderEpoch,
    uint PreviousCrc,
    uint DurableBack,
    ulong Mac = 0
);
