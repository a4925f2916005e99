namespace LightQ.Client.Timing;

/// <summary>
/// A timer of a clock that a test moves: fires when that clock says so, and also when its time has passed and its own
/// timer, which may need the thread pool, has not fired.
/// </summary>
internal sealed class WatchedTimer : ITimer
{
    private static readonly TimeSpan ShortestLook = TimeSpan.FromMilliseconds(50),
        LongestLook = TimeSpan.FromHours(1);

    private readonly TimeProvider _time;
    private readonly TimerCallback _callback;
    private readonly object? _state;
    private readonly ITimer _timer;
    private readonly ThreadTimer _watch;
    private readonly Lock _gate = new();
    private TimeSpan _period;
    private long _armedAt;
    private TimeSpan _dueTime;
    private bool _isArmed;

    public WatchedTimer(TimeProvider time, TimerCallback callback, object? state)
    {
        (_time, _callback, _state) = (time, callback, state);
        _watch = new ThreadTimer(static timer => ((WatchedTimer)timer!).Look(), this);
        _timer = time.CreateTimer(
            static timer => ((WatchedTimer)timer!).Look(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
    }

    public bool Change(TimeSpan dueTime, TimeSpan period)
    {
        lock (_gate)
        {
            _period = period;
            _isArmed = dueTime != Timeout.InfiniteTimeSpan;
            if (_isArmed)
                Arm(dueTime);
        }
        // Not under the gate: a clock may fire what is due from within.
        _watch.Change(dueTime, Timeout.InfiniteTimeSpan);
        return _timer.Change(dueTime, Timeout.InfiniteTimeSpan);
    }

    public void Dispose()
    {
        lock (_gate)
            _isArmed = false;
        _watch.Dispose();
        _timer.Dispose();
    }

    public ValueTask DisposeAsync()
    {
        Dispose();
        return ValueTask.CompletedTask;
    }

    private void Look()
    {
        TimeSpan left;
        bool isDue;
        lock (_gate)
        {
            if (!_isArmed)
                return;
            left = _dueTime - _time.GetElapsedTime(_armedAt);
            isDue = left <= TimeSpan.Zero;
            if (isDue)
            {
                _isArmed = _period > TimeSpan.Zero;
                if (_isArmed)
                    Arm(left = _period);
            }
        }
        if (!isDue || left > TimeSpan.Zero)
            LookAgain(left, isDue);
        if (isDue)
            _callback(_state);
    }

    /// <param name="left">What is left until the timer is due.</param>
    /// <param name="isAnew">Whether the clock's own timer has to be armed, too.</param>
    private void LookAgain(TimeSpan left, bool isAnew)
    {
        _watch.Change(
            TimeSpan.FromTicks(Math.Clamp(left.Ticks, ShortestLook.Ticks, LongestLook.Ticks)),
            Timeout.InfiniteTimeSpan
        );
        if (isAnew)
            _timer.Change(left, Timeout.InfiniteTimeSpan);
    }

    private void Arm(TimeSpan dueTime) => (_armedAt, _dueTime) = (_time.GetTimestamp(), dueTime);
}
