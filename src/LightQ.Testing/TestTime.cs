namespace LightQ.Testing;

/// <summary>
/// A clock that runs like the machine's and can be moved forward, so that a test of what happens after ten minutes does
/// not take ten minutes. Thread-safe.
/// </summary>
/// <remarks>
/// The clock never stands still, so code that waits for a short time goes on by itself. (FakeTimeProvider of
/// Microsoft.Extensions.TimeProvider.Testing stands still until it is moved, and heartbeats would stop with it.) To the
/// program, <see cref="Advance"/> looks like a machine that slept: the clock jumps. Each timer that it passed fires
/// once, in order, on the thread that calls it. All of them have fired when it returns. Work that they started on other
/// threads may still be under way, so wait for its effect.
/// </remarks>
public sealed class TestTime : TimeProvider
{
    private readonly Lock _lock = new();
    private readonly HashSet<TestTimer> _armed = [];
    private long _aheadTicks;

    /// <summary>How far the clock is ahead of the machine's clock.</summary>
    public TimeSpan Ahead => new(Interlocked.Read(ref _aheadTicks));

    /// <inheritdoc/>
    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + Ahead;

    /// <inheritdoc/>
    public override long GetTimestamp() => System.GetElapsedTime(0).Ticks + Interlocked.Read(ref _aheadTicks);

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(callback);
        var timer = new TestTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Moves the clock forward, for everything that uses it at once.</summary>
    /// <param name="by">By how much; zero or above. The clock cannot be moved back.</param>
    /// <exception cref="AggregateException">Callbacks of timers threw; all that were due have fired.</exception>
    public void Advance(TimeSpan by)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(by, TimeSpan.Zero);
        List<TestTimer> due;
        lock (_lock)
        {
            Interlocked.Add(ref _aheadTicks, by.Ticks);
            long now = GetTimestamp();
            due = [.. _armed.Where(t => t.Due <= now).OrderBy(t => t.Due)];
            foreach (TestTimer timer in due)
                timer.Rearm();
            foreach (TestTimer timer in _armed)
                timer.Wait(); // For what is left of its time.
        }
        List<Exception> failures = [];
        foreach (TestTimer timer in due)
        {
            try
            {
                timer.Fire();
            }
            catch (Exception e)
            {
                failures.Add(e); // The timers behind it are due all the same.
            }
        }
        if (failures.Count != 0)
            throw new AggregateException("Timers that the clock jumped over threw.", failures);
    }

    private sealed class TestTimer : ITimer
    {
        /// <summary>The longest that a timer of the framework takes.</summary>
        private static readonly TimeSpan LongestWait = TimeSpan.FromMilliseconds(uint.MaxValue - 1);

        private readonly TestTime _time;
        private readonly TimerCallback _callback;
        private readonly object? _state;
        private readonly ExecutionContext? _context = ExecutionContext.Capture();
        private readonly ITimer _real;
        private TimeSpan _period;
        private bool _isDisposed;

        public TestTimer(TestTime time, TimerCallback callback, object? state)
        {
            (_time, _callback, _state) = (time, callback, state);
            _real = System.CreateTimer(
                static timer => ((TestTimer)timer!).OnRealTime(),
                this,
                Timeout.InfiniteTimeSpan,
                Timeout.InfiniteTimeSpan
            );
        }

        /// <summary>When an armed timer fires next, as a timestamp.</summary>
        public long Due { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (_time._lock)
            {
                _period = period;
                if (_isDisposed)
                    return false;
                _time._armed.Remove(this);
                if (dueTime == Timeout.InfiniteTimeSpan)
                    return _real.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
                Due = _time.GetTimestamp() + dueTime.Ticks;
                _time._armed.Add(this);
                return Wait();
            }
        }

        public void Fire()
        {
            if (_context is null)
            {
                _callback(_state);
            }
            else
            {
                ExecutionContext.Run(
                    _context,
                    static timer => ((TestTimer)timer!)._callback(((TestTimer)timer)._state),
                    this
                );
            }
        }

        /// <summary>
        /// Sets the next time, if there is one, when the timer is about to fire. Called under the clock's lock.
        /// </summary>
        public void Rearm()
        {
            if (_period > TimeSpan.Zero)
                Due = _time.GetTimestamp() + _period.Ticks;
            else
                _time._armed.Remove(this);
        }

        /// <summary>Makes the machine's clock wake the timer. Called under the clock's lock.</summary>
        public bool Wait()
        {
            TimeSpan left = TimeSpan.FromTicks(Math.Max(0, Due - _time.GetTimestamp()));
            return _real.Change(left < LongestWait ? left : LongestWait, Timeout.InfiniteTimeSpan);
        }

        public void Dispose()
        {
            Disarm();
            _real.Dispose();
        }

        public ValueTask DisposeAsync()
        {
            Disarm();
            return _real.DisposeAsync();
        }

        private void Disarm()
        {
            lock (_time._lock)
            {
                _isDisposed = true;
                _time._armed.Remove(this);
            }
        }

        private void OnRealTime()
        {
            lock (_time._lock)
            {
                if (!_time._armed.Contains(this))
                    return; // Changed, or taken by Advance.
                if (Due > _time.GetTimestamp())
                {
                    Wait();
                    return;
                }
                Rearm();
                if (_time._armed.Contains(this))
                    Wait();
            }
            Fire();
        }
    }
}
