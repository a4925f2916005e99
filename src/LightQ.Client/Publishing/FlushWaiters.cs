namespace LightQ.Client.Publishing;

/// <summary>
/// Counts the messages that a producer accepted and their outcomes, and knows which flush waits for how many. Guarded
/// by its producer's gate.
/// </summary>
internal sealed class FlushWaiters
{
    private readonly Queue<(long Target, TaskCompletionSource Done)> _waiters = new();
    private long _accepted;
    private long _settled;
    private LightQException? _firstError;
    private LightQException? _unreported;

    /// <summary>Messages were accepted.</summary>
    public void Accept(int count) => _accepted += count;

    /// <summary>Messages were acknowledged.</summary>
    public void Settle(int count)
    {
        _settled += count;
        if (_waiters.Count > 0)
            CompleteReached();
    }

    /// <summary>Messages failed.</summary>
    /// <param name="count">How many.</param>
    /// <param name="error">Why.</param>
    /// <param name="isAwaited">Whether another caller learns of it.</param>
    public void Fail(int count, LightQException error, bool isAwaited)
    {
        _firstError ??= error;
        if (!isAwaited)
            _unreported ??= error;
        Settle(count);
    }

    /// <summary>Throws the error of messages that no caller awaited, once.</summary>
    /// <exception cref="LightQException">The error.</exception>
    public void ThrowUnreported()
    {
        if (_unreported is not { } error)
            return;
        (_unreported, _firstError) = (null, null);
        throw error.Copy();
    }

    /// <summary>
    /// Completes when everything accepted so far is settled; fails with the first error since the last time.
    /// </summary>
    public Task WaitAsync()
    {
        if (_settled == _accepted && _waiters.Count == 0)
            return TakeFirstError() is { } error ? Task.FromException(error) : Task.CompletedTask;
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _waiters.Enqueue((_accepted, done));
        return done.Task;
    }

    private void CompleteReached()
    {
        while (_waiters.TryPeek(out var waiter) && waiter.Target <= _settled)
        {
            _waiters.Dequeue();
            if (TakeFirstError() is { } error)
                waiter.Done.TrySetException(error);
            else
                waiter.Done.TrySetResult();
        }
    }

    private LightQException? TakeFirstError()
    {
        LightQException? error = _firstError;
        (_unreported, _firstError) = (null, null);
        return error?.Copy();
    }
}
