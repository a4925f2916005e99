namespace LightQ.Scheduling;

/// <summary>
/// A thread that looks after things when they are due: what may take long, and so must not be done by the clock's
/// thread.
/// </summary>
public sealed class HousekeepingThread : IDisposable
{
    private readonly object _lock = new();
    private readonly HousekeepingSchedule _schedule;
    private readonly Thread _thread;
    private bool _due;
    private bool _stopping;

    public HousekeepingThread(TimeProvider clock, TimeSpan grain, string name)
    {
        _schedule = new HousekeepingSchedule(clock, grain, Wake);
        _thread = new Thread(Run) { Name = name, IsBackground = true };
        _thread.Start();
    }

    /// <inheritdoc cref="HousekeepingSchedule.Request"/>
    public void Request(IHousekept task, TimeSpan within) => _schedule.Request(task, within);

    /// <inheritdoc cref="HousekeepingSchedule.Remove"/>
    public void Remove(IHousekept task) => _schedule.Remove(task);

    /// <summary>Looks after everything that is due sooner or later, on the caller's thread: for tests.</summary>
    public void RunOnce() => _schedule.RunAll();

    public void Dispose()
    {
        _schedule.Dispose();
        lock (_lock)
        {
            _stopping = true;
            Monitor.Pulse(_lock);
        }
        _thread.Join();
    }

    private void Wake()
    {
        lock (_lock)
        {
            _due = true;
            Monitor.Pulse(_lock);
        }
    }

    private void Run()
    {
        while (true)
        {
            lock (_lock)
            {
                while (!_due && !_stopping)
                    Monitor.Wait(_lock);
                if (_stopping)
                    return;
                _due = false;
            }
            _schedule.Run();
        }
    }
}
