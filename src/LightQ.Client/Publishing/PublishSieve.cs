using LightQ.Client.Batches;

namespace LightQ.Client.Publishing;

/// <summary>
/// The topic was made anew, or another broker takes shorter frames: what waits to be sent and is not taken any more
/// fails, and batches that became too long are parted. Under the producer's gate.
/// </summary>
internal readonly struct PublishSieve(
    PublishQueue queue,
    WaitingPublishes waiting,
    PublishOutcomes outcomes,
    FlushWaiters flushes,
    TopicLimits limits
)
{
    public void Sift()
    {
        for (int left = queue.CountQueued(); left > 0 && queue.TryTakeQueued(out SendBatch batch); left--)
        {
            if (!limits.Takes(batch.Properties))
                Reject(batch, limits.NoDelays());
            else if (batch.IsDivisible && !limits.IsShortEnough(batch.RecordBytes, batch.Properties))
                Divide(batch);
            else if (batch.Length > limits.MaxBatchBytes)
                Reject(batch, TooLong(batch));
            else
                queue.Requeue(batch);
        }
        waiting.Sift(ProblemOf);
    }

    private LightQException? ProblemOf(WaitingPublish publish)
    {
        if (!limits.Takes(publish.Properties))
            return limits.NoDelays();
        if (publish.Batch is { } batch)
            return batch.Length > limits.MaxBatchBytes ? TooLong(batch) : null;
        return limits.IsShortEnough(publish.RecordLength, publish.Properties)
            ? null
            : limits.TooLarge(publish.RecordLength);
    }

    /// <summary>One that was sent on an earlier connection may be stored.</summary>
    private LightQException TooLong(SendBatch batch) =>
        new(
            batch.IsCompleted ? ErrorCode.OutcomeUnknown : ErrorCode.MessageTooLarge,
            Refusal.Describe(limits.Topic, ErrorCode.MessageTooLarge)
        );

    private void Reject(SendBatch batch, LightQException error) => outcomes.Reject(batch, error.Code, error.Message);

    /// <summary>Parts a batch of several callers' messages, of which only those that are too long fail.</summary>
    private void Divide(SendBatch batch)
    {
        SendBatch? part = null;
        for (int i = 0; batch.TryTakeRecord(i, out ReadOnlySpan<byte> record, out PublishCompletion? waiter); i++)
        {
            if (!limits.IsShortEnough(record.Length, batch.Properties))
            {
                LightQException error = limits.TooLarge(record.Length);
                flushes.Fail(1, error, isAwaited: waiter is not null);
                waiter?.FailOnPool(error);
                continue;
            }
            if (part is null || part.Length + record.Length > limits.MaxBatchBytes || !part.TryAddEncoded(record))
            {
                if (part is not null)
                    queue.Requeue(part);
                part = queue.Rent(record.Length, batch.Properties);
                part.TryAddEncoded(record);
            }
            if (waiter is not null)
                part.AddWaiter(waiter);
        }
        if (part is not null)
            queue.Requeue(part);
        batch.Release();
    }
}
