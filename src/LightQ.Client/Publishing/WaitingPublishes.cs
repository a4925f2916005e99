namespace LightQ.Client.Publishing;

/// <summary>Publishes that found no room, in their order. Guarded by their producer's gate.</summary>
internal sealed class WaitingPublishes(PublishQueue queue, FlushWaiters flushes)
{
    private readonly Queue<WaitingPublish> _waiting = new();

    public bool IsEmpty => _waiting.Count == 0;

    public void Add(in WaitingPublish publish) => _waiting.Enqueue(publish);

    /// <summary>Admits the publishes that wait for room, as far as the room goes.</summary>
    public void Admit()
    {
        while (_waiting.TryPeek(out WaitingPublish next))
        {
            if (next.Completion.IsClaimed)
            {
                next.ReturnRecord();
                next.Batch?.Release();
                next.Completion.Abandon();
                flushes.Settle(next.Count);
            }
            else if (next.Batch is not null)
            {
                if (!queue.TryQueue(next.Batch))
                    return;
            }
            else if (next.Record is not null)
            {
                if (!queue.TryAddEncoded(next.Encoded, next.Properties))
                    return;
                queue.AddWaiter(next.Completion);
                next.ReturnRecord();
            }
            else
            {
                if (!queue.IsHalfFree)
                    return;
                next.Completion.CompleteOnPool();
            }
            _waiting.Dequeue();
        }
    }

    /// <summary>Fails those that are not taken any more.</summary>
    /// <param name="problem">Why one is not; null when it is.</param>
    public void Sift(Func<WaitingPublish, LightQException?> problem)
    {
        for (int left = _waiting.Count; left > 0; left--)
        {
            WaitingPublish waiting = _waiting.Dequeue();
            if (problem(waiting) is { } error)
                Fail(waiting, error.Code, error.Message);
            else
                _waiting.Enqueue(waiting);
        }
    }

    /// <summary>None of them is let in.</summary>
    public void Fail(ErrorCode code, string message)
    {
        while (_waiting.TryDequeue(out WaitingPublish waiting))
            Fail(waiting, code, message);
    }

    private void Fail(in WaitingPublish waiting, ErrorCode code, string message)
    {
        waiting.ReturnRecord();
        flushes.Fail(waiting.Count, new LightQException(code, message), isAwaited: true);
        if (waiting.Batch is not null)
            waiting.Batch.Reject(code, message);
        else
            waiting.Completion.FailOnPool(new LightQException(code, message));
    }
}
