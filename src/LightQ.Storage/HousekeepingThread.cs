namespace LightQ.Storage;

/// <summary>A thread that looks after things in turn, at the clock's intervals.</summary>
internal sealed class HousekeepingThread : IDisposable
{
    private readonly object _lock = new();
    private readonly List<IHousekept> _tasks = [];
    private readonly ITimer _timer;
    private readonly Thread _thread;
    private readonly TimeProvider _clock;
    private IHousekept[]? _snapshot;
    private bool _due;
    private bool _stopping;

    public HousekeepingThread(TimeProvider clock, TimeSpan interval, string name)
    {
        _clock = clock;
        _thread = new Thread(Run) { Name = name, IsBackground = true };
        _thread.Start();
        _timer = clock.CreateTimer(_ => Wake(), null, interval, interval);
    }

    public void Add(IHousekept task)
    {
        lock (_lock)
        {
            _tasks.Add(task);
            _snapshot = null;
        }
    }

    public void Remove(IHousekept task)
    {
        lock (_lock)
        {
            _tasks.Remove(task);
            _snapshot = null;
        }
    }

    /// <summary>Looks after everything once, on the caller's thread.</summary>
    public void RunOnce()
    {
        IHousekept[] tasks;
        lock (_lock)
            tasks = _snapshot ??= [.. _tasks];
        DateTimeOffset now = _clock.GetUtcNow();
        foreach (IHousekept task in tasks)
            task.Tend(now);
    }

    public void Dispose()
    {
        _timer.Dispose();
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
            RunOnce();
        }
    }
}
