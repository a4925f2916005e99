using System.Diagnostics;

namespace LightQ.Client.Timing;

/// <summary>A timer of the machine's clock that fires on the client's timer thread.</summary>
internal sealed class ThreadTimer(TimerCallback callback, object? state) : ITimer
{
    private readonly Lock _gate = new();
    private TimeSpan _period;
    private int _arming;
    private bool _isArmed;

    public bool Change(TimeSpan dueTime, TimeSpan period)
    {
        lock (_gate)
        {
            _arming++;
            _period = period;
            _isArmed = dueTime != Timeout.InfiniteTimeSpan;
            if (_isArmed)
                Arm(dueTime);
            return true;
        }
    }

    public void Dispose() => Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

    public ValueTask DisposeAsync()
    {
        Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>Called by the timer thread.</summary>
    public void Fire(int arming)
    {
        lock (_gate)
        {
            if (!_isArmed || arming != _arming)
                return;
            _isArmed = _period > TimeSpan.Zero;
            if (_isArmed)
                Arm(_period);
        }
        callback(state);
    }

    private void Arm(TimeSpan dueTime) =>
        TimerThread.Add(
            this,
            _arming,
            Stopwatch.GetTimestamp() + (long)(Math.Max(0, dueTime.TotalSeconds) * Stopwatch.Frequency)
        );
}
