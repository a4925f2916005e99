using LightQ.Client.Batches;
using LightQ.Client.Telemetry;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Publishing;

/// <summary>
/// Reports the outcomes of messages to publishers and to the measurements. Guarded by their producer's gate.
/// </summary>
internal sealed class PublishOutcomes(
    PublishQueue queue,
    WaitingPublishes waiting,
    FlushWaiters flushes,
    PublishOperations operations,
    ProducerIdentity identity
)
{
    /// <summary>
    /// Takes what an ack says of the batches in flight, up to the first whose rejection ends the stream.
    /// </summary>
    /// <returns>That one, which has no outcome yet; null when the stream goes on.</returns>
    public SendBatch? Take(in PublishAckFrame frame, string topic, int partition, out ErrorCode error)
    {
        error = ErrorCode.None;
        for (int i = 0; i < frame.Count; i++)
        {
            AckRange range = frame[i];
            ulong end = range.FirstSequence + range.Count;
            while (queue.TryTakeInFlight(end, out SendBatch batch))
            {
                if (batch.BaseSequence < range.FirstSequence || batch.BaseSequence + (ulong)batch.Count > end)
                {
                    Reject(batch, ErrorCode.OutcomeUnknown, "The broker's ack does not match what was sent.");
                    throw new ProtocolException(
                        ErrorCode.OutOfOrder,
                        $"Messages {range.FirstSequence} to {end - 1} were acknowledged, which is not what was sent."
                    );
                }
                if (range is { Error: not ErrorCode.None, IsAlone: true })
                {
                    Reject(batch, range.Error, Refusal.Describe(topic, range.Error));
                    continue;
                }
                if (range.Error != ErrorCode.None)
                {
                    error = range.Error;
                    return batch;
                }
                long offset = range.BaseOffset + (long)(batch.BaseSequence - range.FirstSequence);
                if (!range.IsDuplicate)
                    queue.OnStored(batch.BaseSequence + (ulong)batch.Count);
                if (range.IsUnchecked)
                    identity.OnUncheckedIds(topic);
                Accept(
                    batch,
                    new PublishAck(offset, batch.Count, frame.Durability, partition)
                    {
                        IsDuplicate = range.IsDuplicate,
                        IsIdUnchecked = range.IsUnchecked,
                    }
                );
            }
        }
        return null;
    }

    /// <summary>One batch is stored.</summary>
    public void Accept(SendBatch batch, in PublishAck ack)
    {
        operations.Measure(batch.Count, batch.StartedAt);
        flushes.Settle(batch.Count);
        batch.Resolve(ack);
    }

    /// <summary>One batch that was sent fails.</summary>
    public void Reject(SendBatch batch, ErrorCode code, string message)
    {
        if (Instruments.SentMessages.Enabled || Instruments.OperationDuration.Enabled)
            operations.Measure(batch.Count, batch.StartedAt, code.ToString());
        RejectUnsent(batch, code, message);
    }

    /// <summary>What was sent and has no ack fails.</summary>
    public void RejectUnanswered(ErrorCode code, string message)
    {
        while (queue.TryTakeUnanswered(out SendBatch batch))
            Reject(batch, code, message);
        queue.ForgetSent();
    }

    /// <summary>The same when the producer has ended.</summary>
    public void RejectUnanswered(LightQException end) =>
        RejectUnanswered(ErrorCode.OutcomeUnknown, $"The producer ended before the ack: {end.Message}");

    /// <summary>
    /// After a reconnect: a named producer sends again what has no ack, with its old numbers, in front of everything
    /// else.
    /// </summary>
    public void Resume(ulong expected, bool mayResend)
    {
        if (mayResend && queue.TryResend(expected))
            return;
        RejectUnanswered(ErrorCode.OutcomeUnknown, "The broker lost its memory of this producer before the ack.");
        queue.Begin(expected);
    }

    /// <summary>Everything that has no outcome yet fails.</summary>
    public void RejectAll(ErrorCode code, string message)
    {
        RejectUnanswered(code, message);
        while (queue.TryTakeQueued(out SendBatch batch))
            RejectUnsent(batch, code, message);
        waiting.Fail(code, message);
    }

    private void RejectUnsent(SendBatch batch, ErrorCode code, string message)
    {
        flushes.Fail(batch.Count, new LightQException(code, message), batch.IsFullyAwaited);
        batch.Reject(code, message);
    }
}
