using LightQ.Protocol;

namespace LightQ.Client.Publishing;

/// <summary>Tells publishers that their messages were not stored, or that nobody knows. Guarded by their producer's gate.</summary>
internal sealed class PublishFailures(PublishQueue queue, WaitingPublishes waiting, FlushWaiters flushes)
{
    /// <summary>One batch fails.</summary>
    public void Reject(SendBatch batch, ErrorCode code, string message)
    {
        flushes.Fail(batch.Count, new LightQException(code, message), batch.IsFullyAwaited);
        batch.Reject(code, message);
    }

    /// <summary>What was sent and has no ack fails.</summary>
    public void RejectUnanswered(ErrorCode code, string message)
    {
        while (queue.TryTakeUnanswered(out SendBatch batch))
            Reject(batch, code, message);
        queue.ForgetSent();
    }

    /// <summary>Everything that has no outcome yet fails.</summary>
    public void RejectAll(ErrorCode code, string message)
    {
        RejectUnanswered(code, message);
        while (queue.TryTakeQueued(out SendBatch batch))
            Reject(batch, code, message);
        waiting.Fail(code, message);
    }
}
