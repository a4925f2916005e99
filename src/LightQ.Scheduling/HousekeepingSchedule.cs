namespace LightQ.Scheduling;

/// <summary>
/// Looks after things when they are due. What has nothing to do is not known here and costs nothing; with nothing due
/// there is no timer.
/// </summary>
/// <remarks>
/// Moments are rounded up to a grain, so that what is due at about the same time shares one wake-up. Requests come from
/// any thread; one thing after the other is looked after.
/// </remarks>
public sealed class HousekeepingSchedule : IDisposable, IAsyncDisposable
{
    /// <summary>
    /// What is due later is looked at earlier, and says then for how long it still has nothing to do: "for ever" does
    /// not fit into timestamps.
    /// </summary>
    private static readonly TimeSpan LongestRequest = TimeSpan.FromDays(1);

    /// <summary>Timers cannot wait for two months.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromDays(1);

    /// <summary>
    /// Thousands may be due at once, such as connections that have said nothing: after so long, which is one or two of
    /// their ends, comes a pause in which messages pass, and what the ends have posted to the threads of the pool is
    /// done.
    /// </summary>
    private static readonly TimeSpan InOneGo = TimeSpan.FromMicroseconds(20);

    /// <summary>
    /// What is left when it gets late is done in longer goes, by this share of how late it is. A tenth of a second's
    /// work gets done within a grain of half a second.
    /// </summary>
    private const double LateShare = 0.001;

    private readonly Lock _lock = new();
    private readonly Dictionary<IHousekept, Entry> _entries = [];
    private readonly SortedSet<Entry> _queue = new(
        Comparer<Entry>.Create(static (a, b) => a.Due != b.Due ? a.Due.CompareTo(b.Due) : a.Number.CompareTo(b.Number))
    );
    private readonly TimeProvider _clock;
    private readonly ITimer _timer;
    private readonly long _grain;
    private long _armedFor = long.MaxValue;
    private long _lastNumber;
    private bool _running;
    private bool _disposed;

    /// <summary>Makes an empty one.</summary>
    /// <param name="clock">The clock.</param>
    /// <param name="grain">How exact moments are.</param>
    /// <param name="onDue">
    /// Called by the clock when something is due, to have <see cref="Run"/> called; null: the clock's thread does that
    /// itself.
    /// </param>
    public HousekeepingSchedule(TimeProvider clock, TimeSpan grain, Action? onDue = null)
    {
        ArgumentNullException.ThrowIfNull(clock);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(grain, TimeSpan.Zero);
        _clock = clock;
        _grain = Math.Max(1, Units(grain));
        Action due = onDue ?? Run;
        _timer = clock.CreateTimer(_ => due(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Has something looked after within a time, or earlier when that is due already.</summary>
    public void Request(IHousekept task, TimeSpan within)
    {
        ArgumentNullException.ThrowIfNull(task);
        long due = RoundUp(
            _clock.GetTimestamp() + Math.Max(1, Units(within < LongestRequest ? within : LongestRequest))
        );
        lock (_lock)
        {
            if (_disposed || (_entries.TryGetValue(task, out Entry known) && known.Due <= due))
                return;
            if (known.Task is not null)
                _queue.Remove(known);
            var entry = new Entry(due, ++_lastNumber, task);
            _entries[task] = entry;
            _queue.Add(entry);
            Arm();
        }
    }

    /// <summary>Forgets something; it may be looked after once more, if that is under way.</summary>
    public void Remove(IHousekept task)
    {
        lock (_lock)
        {
            if (_entries.Remove(task, out Entry entry))
                _queue.Remove(entry);
        }
    }

    /// <summary>Looks after what is due, on the caller's thread, and asks the clock for the next time.</summary>
    public void Run()
    {
        lock (_lock)
        {
            if (_running)
                return; // It asks the clock again when it is done.
            _running = true;
            _armedFor = long.MaxValue;
        }
        long until = _clock.GetTimestamp();
        DateTimeOffset now = _clock.GetUtcNow();
        long goes = until + Units(InOneGo);
        while (TryTake(until, out IHousekept? task))
        {
            Look(task, now);
            long timestamp = _clock.GetTimestamp();
            if (timestamp < goes || timestamp - until > _grain)
                continue; // Or it is behind: what is due next is due by now.
            Thread.Sleep(1);
            timestamp = _clock.GetTimestamp();
            goes = timestamp + Units(InOneGo) + (long)(LateShare * (timestamp - until));
        }
        lock (_lock)
        {
            _running = false;
            Arm();
        }
    }

    /// <summary>Stops the clock; nothing more is looked after but what is under way.</summary>
    public void Dispose()
    {
        Forget();
        _timer.Dispose();
    }

    /// <summary>As <see cref="Dispose"/>, and completes when nothing is under way on the clock's thread.</summary>
    public ValueTask DisposeAsync()
    {
        Forget();
        return _timer.DisposeAsync();
    }

    /// <summary>Looks after everything that is due sooner or later, on the caller's thread: for tests.</summary>
    internal void RunAll()
    {
        IHousekept[] all;
        lock (_lock)
            all = [.. _queue.Select(entry => entry.Task)];
        DateTimeOffset now = _clock.GetUtcNow();
        foreach (IHousekept task in all)
        {
            Remove(task);
            Look(task, now);
        }
    }

    private void Forget()
    {
        lock (_lock)
        {
            _disposed = true;
            _entries.Clear();
            _queue.Clear();
        }
    }

    private void Look(IHousekept task, DateTimeOffset now)
    {
        if (task.Look(now) is { } within)
            Request(task, within);
    }

    private bool TryTake(long until, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out IHousekept? task)
    {
        lock (_lock)
        {
            Entry first = _queue.Min;
            task = first.Task is not null && first.Due <= until ? first.Task : null;
            if (task is null)
                return false;
            _queue.Remove(first);
            _entries.Remove(task);
            return true;
        }
    }

    /// <summary>Sees that the clock calls when the first entry is due. Under the lock.</summary>
    private void Arm()
    {
        Entry first = _queue.Min;
        if (_running || _disposed || first.Task is null || first.Due >= _armedFor)
            return;
        _armedFor = first.Due;
        // Timers count whole milliseconds: rounded down, the last one would be waited for in a loop.
        long left = Math.Max(0, first.Due - _clock.GetTimestamp()),
            frequency = _clock.TimestampFrequency;
        TimeSpan wait = TimeSpan.FromMilliseconds(((left * 1000) + frequency - 1) / frequency);
        _timer.Change(wait < LongestWait ? wait : LongestWait, Timeout.InfiniteTimeSpan);
    }

    private long RoundUp(long timestamp) => (timestamp + _grain - 1) / _grain * _grain;

    private long Units(TimeSpan time) => (long)Math.Ceiling(time.TotalSeconds * _clock.TimestampFrequency);

    private readonly record struct Entry(long Due, long Number, IHousekept Task);
}
