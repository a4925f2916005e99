namespace LightQ.Protocol.Batches;

/// <summary>The fields of a batch header that the broker fills in when it appends.</summary>
/// <param name="BaseOffset">Offset of the first message.</param>
/// <param name="AppendTime">The broker's clock, unix microseconds; never decreases within a log.</param>
/// <param name="LeaderEpoch">The log's epoch.</param>
/// <param name="PreviousCrc">
/// Header checksum of the previous batch in the same segment; for the first batch, that of the segment header.
/// </param>
/// <param name="DurableBack"><paramref name="BaseOffset"/> minus the durable end at that moment; saturates.</param>
/// <param name="Mac">
/// Message authentication code of the batch's place in the log, made with the log's own key; 0 where no journal stores
/// the batch. Only the log can verify it.
/// </param>
/// <param name="User">
/// The number of the user who published a batch with a message id without a named producer: it takes the place of the
/// producer epoch. 0 leaves that as it is.
/// </param>
public readonly record struct BatchStamp(
    long BaseOffset,
    long AppendTime,
    uint LeaderEpoch,
    uint PreviousCrc,
    uint DurableBack,
    ulong Mac = 0,
    uint User = 0
);
