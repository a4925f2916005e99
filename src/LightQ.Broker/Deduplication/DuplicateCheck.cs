using LightQ.Broker.Producers;
using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Deduplication;

/// <summary>
/// Says of a published batch whether it is stored already, or a message with its id is. Under the append lock.
/// </summary>
internal static class DuplicateCheck
{
    /// <summary>Checks a batch by its producer's numbers and by its message's id.</summary>
    /// <param name="partition">Where it is to be appended.</param>
    /// <param name="state">Its named producer, whose epoch is the right one; null for an anonymous one.</param>
    /// <param name="batch">The batch.</param>
    /// <param name="time">The time of the append, unix microseconds.</param>
    /// <param name="stored">What is stored of it; nothing when it is to be appended.</param>
    /// <returns><see cref="ErrorCode.None"/>, or why it is refused.</returns>
    public static ErrorCode Check(
        Partition partition,
        ProducerState? state,
        in BatchView batch,
        long time,
        out StoredBatch stored
    )
    {
        ErrorCode error = ErrorCode.None;
        stored = StoredBatch.None;
        if (state is not null)
            error = state.Check(batch, out stored);
        if (
            stored.IsAny
            || (batch.Flags & BatchLayout.HasMessageId) == 0
            || error is not (ErrorCode.None or ErrorCode.SequenceOverlap)
        )
        {
            return error;
        }

        if (partition.Dedup is { } window && window.TryFind(batch.MessageId, time, out long offset))
        {
            stored = new StoredBatch(offset, IsDuplicate: true);
            if (error == ErrorCode.None)
                state?.RememberDuplicate(batch, offset, time);
        }
        else if (
            error == ErrorCode.SequenceOverlap
            && state!.IsInHole(batch.BaseSequence)
            && !partition.Log.Damage.Any()
        )
        {
            // A log has holes in a producer's numbers where the broker dropped duplicates before it was killed. This
            // one's id is forgotten by now.
            stored = new StoredBatch(-1, IsDuplicate: true);
        }
        else
        {
            return error;
        }
        partition.Counters.Duplicate();
        return ErrorCode.None;
    }
}
