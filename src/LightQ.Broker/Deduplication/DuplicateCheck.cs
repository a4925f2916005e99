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
    /// <param name="user">The <see cref="Users.UserNumber"/> of whoever publishes it.</param>
    /// <param name="refusesAlone">Whether its producer may have been refused batches alone.</param>
    /// <param name="stored">What is stored of it; nothing when it is to be appended.</param>
    /// <returns><see cref="ErrorCode.None"/>, or why it is refused.</returns>
    public static ErrorCode Check(
        Partition partition,
        ProducerState? state,
        in BatchView batch,
        long time,
        uint user,
        bool refusesAlone,
        out StoredBatch stored
    )
    {
        ErrorCode error = ErrorCode.None;
        stored = StoredBatch.None;
        if (state is not null)
            error = state.Check(batch, out stored);
        if (refusesAlone && error == ErrorCode.SequenceOverlap && IsInHole(partition, state!, batch))
        {
            // What asks for what may be refused, and lies where the numbers of what is stored leave a hole.
            stored = StoredBatch.Refused(RefusalOf(partition, batch, user));
            if (stored.IsAny)
                return ErrorCode.None;
        }
        if (
            stored.IsAny
            || (batch.Flags & BatchLayout.HasMessageId) == 0
            || error is not (ErrorCode.None or ErrorCode.SequenceOverlap)
        )
        {
            return error;
        }

        if (
            partition.Dedup is { } window
            && window.TryFind(batch.MessageId, partition.WindowNow(window.Window, time), out long offset, user)
        )
        {
            stored = new StoredBatch(offset, IsDuplicate: true);
            if (error == ErrorCode.None)
                state?.RememberDuplicate(batch, offset, time);
        }
        else if (error == ErrorCode.SequenceOverlap && IsInHole(partition, state!, batch))
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

    private static bool IsInHole(Partition partition, ProducerState state, in BatchView batch) =>
        state.IsInHole(batch.BaseSequence) && !partition.Log.Damage.Any();

    /// <summary>
    /// Why a batch in a hole was refused before the broker's start; nothing for one that cannot have been.
    /// </summary>
    private static ErrorCode RefusalOf(Partition partition, in BatchView batch, uint user)
    {
        ErrorCode error = partition.CheckAsked(batch, user);
        if (error != ErrorCode.None || (batch.Flags & BatchLayout.HasDueTime) == 0)
            return error;
        // There is room for it now. One with an id may have been a duplicate instead.
        return (batch.Flags & BatchLayout.HasMessageId) == 0 ? ErrorCode.ResourceExhausted : ErrorCode.UnknownProducer;
    }
}
