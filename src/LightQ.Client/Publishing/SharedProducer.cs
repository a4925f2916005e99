namespace LightQ.Client.Publishing;

/// <summary>The producer of a topic that a client publishes to without one of the application's own.</summary>
internal sealed class SharedProducer(Task<Producer> opened, EarlyPublishes early)
{
    private long _lastUsed = Environment.TickCount64;

    /// <summary>The producer, once it is open.</summary>
    public Task<Producer> Opened { get; } = opened;

    /// <summary>What was published before it was open.</summary>
    public EarlyPublishes Early { get; } = early;

    /// <summary>When it was asked for last, in milliseconds of the machine's uptime.</summary>
    public long LastUsed => Volatile.Read(ref _lastUsed);

    /// <summary>Whether it is open, nothing waits for it, and all that was published has its outcome.</summary>
    public bool IsIdle => Early.Ready is { IsIdle: true };

    public void Touch() => Volatile.Write(ref _lastUsed, Environment.TickCount64);

    /// <summary>Closes it, and waits as long as a producer's options say for what is under way.</summary>
    public async Task CloseAsync()
    {
        await ((Task)Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (Opened.IsCompletedSuccessfully)
            await Opened.Result.DisposeAsync().ConfigureAwait(false);
    }
}
