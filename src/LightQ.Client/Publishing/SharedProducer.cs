namespace LightQ.Client.Publishing;

/// <summary>The producer of a topic that a client publishes to without one of the application's own.</summary>
internal sealed class SharedProducer(Task<Producer> opened)
{
    private long _lastUsed = Environment.TickCount64;
    private int _callers;

    /// <summary>The producer, once it is open.</summary>
    public Task<Producer> Opened { get; } = opened;

    /// <summary>When it was asked for last, in milliseconds of the machine's uptime.</summary>
    public long LastUsed => Volatile.Read(ref _lastUsed);

    /// <summary>Whether it takes no messages any more, by a failure or because it was given up.</summary>
    public bool IsBroken => Opened.IsCompletedSuccessfully && Opened.Result.IsBroken;

    /// <summary>
    /// Whether it is open, no caller waits to publish with it, and all that was published has its outcome.
    /// </summary>
    public bool IsIdle => Volatile.Read(ref _callers) == 0 && Opened.IsCompletedSuccessfully && Opened.Result.IsIdle;

    public void Touch() => Volatile.Write(ref _lastUsed, Environment.TickCount64);

    /// <summary>A caller waits to publish with it.</summary>
    public void Enter() => Interlocked.Increment(ref _callers);

    public void Exit() => Interlocked.Decrement(ref _callers);

    /// <summary>
    /// From now on it takes nothing, which a caller learns before its message is taken; it closes once everything
    /// published with it has its outcome, however long that takes.
    /// </summary>
    public Task RetireAsync() => Opened.IsCompletedSuccessfully ? Opened.Result.RetireAsync() : RetireLaterAsync();

    /// <summary>Closes it, and waits as long as a producer's options say for what is under way.</summary>
    public async Task CloseAsync()
    {
        await ((Task)Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (Opened.IsCompletedSuccessfully)
            await Opened.Result.DisposeAsync().ConfigureAwait(false);
    }

    private async Task RetireLaterAsync()
    {
        await ((Task)Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (Opened.IsCompletedSuccessfully)
            await Opened.Result.RetireAsync().ConfigureAwait(false);
    }
}
