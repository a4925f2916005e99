namespace LightQ.Client.Timing;

/// <summary>
/// Makes the timers of the client's own work: they fire in time whatever the application does to the thread pool.
/// </summary>
internal static class ClientTimer
{
    /// <summary>Makes a timer that is not armed yet.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="callback">
    /// What is to be done: short, and never blocking, because the timers of all clients share one thread.
    /// </param>
    /// <param name="state">Passed to the callback.</param>
    public static ITimer Create(TimeProvider time, TimerCallback callback, object? state) =>
        time == TimeProvider.System ? new ThreadTimer(callback, state) : new WatchedTimer(time, callback, state);

    /// <summary>Waits for a while, or until it is cancelled; throws nothing then.</summary>
    public static Task DelayAsync(TimeProvider time, TimeSpan delay, CancellationToken cancellationToken)
    {
        if (delay <= TimeSpan.Zero || cancellationToken.IsCancellationRequested)
            return Task.CompletedTask;
        var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        ITimer timer = Create(time, static over => ((TaskCompletionSource)over!).TrySetResult(), over);
        CancellationTokenRegistration cancelling = cancellationToken.UnsafeRegister(
            static over => ((TaskCompletionSource)over!).TrySetResult(),
            over
        );
        _ = over.Task.ContinueWith(
            (_, _) =>
            {
                timer.Dispose();
                cancelling.Unregister();
            },
            null,
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default
        );
        timer.Change(delay, Timeout.InfiniteTimeSpan);
        return over.Task;
    }
}
