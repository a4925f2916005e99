namespace LightQ.Client.Publishing;

/// <summary>The producer of a topic that a client publishes to without one of the application's own.</summary>
internal sealed class SharedProducer(Task<Producer> opened)
{
    private long _lastUsed = Environment.TickCount64;

    /// <summary>The producer, once it is open.</summary>
    public Task<Producer> Opened { get; } = opened;

    /// <summary>When it was asked for last, in milliseconds of the machine's uptime.</summary>
    public long LastUsed => Volatile.Read(ref _lastUsed);

    public void Touch() => Volatile.Write(ref _lastUsed, Environment.TickCount64);

    /// <summary>Closes it once everything published with it has its outcome, however long that takes.</summary>
    public async Task GiveUpAsync()
    {
        await ((Task)Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!Opened.IsCompletedSuccessfully)
            return;
        // What failed was told to who published it.
        await Opened.Result.FlushAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await Opened.Result.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Closes it, and waits as long as a producer's options say for what is under way.</summary>
    public async Task CloseAsync()
    {
        await ((Task)Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (Opened.IsCompletedSuccessfully)
            await Opened.Result.DisposeAsync().ConfigureAwait(false);
    }
}
