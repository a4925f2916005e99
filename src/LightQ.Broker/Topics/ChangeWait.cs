using LightQ.Scheduling;

namespace LightQ.Broker.Topics;

/// <summary>Waits for a signal, a time or a task, whichever is first. One thread at a time.</summary>
/// <param name="changed">The signal.</param>
/// <param name="stop">Ends the wait with an <see cref="OperationCanceledException"/>.</param>
internal sealed class ChangeWait(Signal changed, CancellationToken stop)
{
    private Task? _woken;

    /// <summary>Waits until something has changed, a time is over, or a task is done.</summary>
    public async Task WaitAsync(TimeSpan? within, TimeProvider time, Task? or = null)
    {
        _woken ??= changed.WaitAsync(stop).AsTask();
        using var passing = new CancellationTokenSource();
        var stopped = new TaskCompletionSource();
        using CancellationTokenRegistration registration = stop.UnsafeRegister(
            static stopped => ((TaskCompletionSource)stopped!).TrySetResult(),
            stopped
        );
        Task passed = within is { } left
            ? Task.Delay(left > TimeSpan.Zero ? left : TimeSpan.Zero, time, passing.Token)
            : stopped.Task;
        await Task.WhenAny(_woken, passed, or ?? stopped.Task, stopped.Task).ConfigureAwait(false);
        await passing.CancelAsync().ConfigureAwait(false);
        if (_woken.IsCompleted)
            _woken = null;
        stop.ThrowIfCancellationRequested();
    }
}
