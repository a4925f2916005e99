namespace LightQ.Tests.Shared;

/// <summary>
/// A clock that moves when told to. Its timers fire on the thread that moves it, each at its own moment.
/// </summary>
/// <remarks>
/// FakeTimeProvider of Microsoft.Extensions.TimeProvider.Testing 10.11.0 does not do here. It sets the clock to the
/// end of a jump and fires then, so a timer that is armed anew each time it fires, as housekeeping's is, is due once
/// in a jump of a minute and not at each of its moments. And it fires what is due from within Change, on the thread
/// and in the locks of whoever arms it.
/// </remarks>
internal sealed class ManualTime : TimeProvider
{
    private readonly Lock _lock = new();
    private readonly List<Timer> _timers = [];
    private DateTimeOffset _now = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>By how much somebody has set the machine's clock.</summary>
    public TimeSpan Set { get; set; }

    public override long GetTimestamp()
    {
        lock (_lock)
            return _now.UtcTicks;
    }

    public override DateTimeOffset GetUtcNow()
    {
        lock (_lock)
            return _now + Set;
    }

    public void Advance(TimeSpan by)
    {
        var until = new DateTimeOffset(GetTimestamp() + by.Ticks, TimeSpan.Zero);
        while (NextDue(until) is { } timer)
            timer.Fire();
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        Timer timer = new(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Moves to the next timer that is due by then; to that moment itself when there is none.</summary>
    private Timer? NextDue(DateTimeOffset until)
    {
        lock (_lock)
        {
            Timer? next = _timers.Where(t => t.Due <= until).MinBy(t => t.Due);
            _now = next?.Due ?? until;
            next?.Rearm();
            return next;
        }
    }

    private sealed class Timer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period;

        public DateTimeOffset Due { get; private set; }

        public void Fire() => callback(state);

        public void Rearm()
        {
            if (_period > TimeSpan.Zero)
                Due += _period;
            else
                time._timers.Remove(this);
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._lock)
            {
                time._timers.Remove(this);
                _period = period;
                if (dueTime == Timeout.InfiniteTimeSpan)
                    return true;
                Due = time._now + dueTime;
                time._timers.Add(this);
                return true;
            }
        }

        public void Dispose()
        {
            lock (time._lock)
                time._timers.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
