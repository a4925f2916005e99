using LightQ.Broker.Topics;
using LightQ.Storage;

namespace LightQ.Broker.Delays;

/// <summary>Cancels delayed messages of one log, and answers when that is safe. Thread-safe.</summary>
/// <remarks>
/// A cancellation is a batch in the log, as a delivery is: which of the two comes first there is what counts, for every
/// start and every replica.
/// </remarks>
internal sealed class CancelledMessages(Partition partition)
{
    private TaskCompletionSource? _moved;
    private volatile bool _isStopped;

    /// <summary>Cancels messages.</summary>
    /// <param name="messages">The offsets at which they were published.</param>
    /// <param name="cancellationToken">Ends the wait; they may be cancelled nevertheless.</param>
    /// <returns>
    /// Of each whether it waited and is delivered no more. It is as safe as the log can make it.
    /// </returns>
    /// <exception cref="BrokerException">
    /// The log takes nothing, or is served elsewhere from now on; they may be cancelled nevertheless.
    /// </exception>
    public async Task<IReadOnlyList<bool>> CancelAsync(
        IReadOnlyList<long> messages,
        CancellationToken cancellationToken
    )
    {
        var outcomes = new List<bool>(messages.Count);
        while (true)
        {
            // Before the look, so that what moves meanwhile is not missed.
            Task moved = NextMove();
            ThrowIfEnded();
            AppendResult result;
            long end;
            lock (partition.AppendLock)
            {
                result = partition.Delays!.Cancel(messages, outcomes);
                end = partition.Log.EndPosition;
            }
            partition.FlushAndWake();
            if (result == AppendResult.Appended)
            {
                if (outcomes.Contains(true))
                    await SafeAsync(end, cancellationToken).ConfigureAwait(false);
                return outcomes;
            }
            if (result != AppendResult.Full)
                throw Refused(result);
            await moved.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>The log has moved on, or has ended.</summary>
    public void OnProgress()
    {
        if (Volatile.Read(ref _moved) is not null)
            Interlocked.Exchange(ref _moved, null)?.TrySetResult();
    }

    /// <summary>The partition is closed: nobody waits any longer.</summary>
    public void Stop()
    {
        _isStopped = true;
        OnProgress();
    }

    private async Task SafeAsync(long end, CancellationToken cancellationToken)
    {
        while (true)
        {
            Task moved = NextMove();
            if (partition.Log.PositionOf(partition.Log.MaxDurability) >= end)
                return;
            ThrowIfEnded();
            await moved.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    private Task NextMove()
    {
        var next = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        TaskCompletionSource moved = Interlocked.CompareExchange(ref _moved, next, null) ?? next;
        Interlocked.MemoryBarrier(); // Either this thread sees what has moved, or that one sees who waits.
        return moved.Task;
    }

    private void ThrowIfEnded()
    {
        if (partition.End is { } end)
            throw new BrokerException(end.Code, end.Message);
        partition.ThrowIfFailed();
        if (_isStopped)
            throw new BrokerException(ErrorCode.ShuttingDown, "The partition is closed.");
    }

    private BrokerException Refused(AppendResult result)
    {
        if (result == AppendResult.DiskFull)
            return new BrokerException(ErrorCode.DiskFull, "The disk is full; nothing more was cancelled.");
        partition.ThrowIfFailed();
        return new BrokerException(ErrorCode.TopicFailed, "The log takes nothing more.");
    }
}
