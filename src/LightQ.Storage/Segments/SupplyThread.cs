namespace LightQ.Storage.Segments;

/// <summary>
/// The thread for slow file work that no caller waits for: making segments ahead, filling them, writing indexes.
/// </summary>
internal sealed class SupplyThread : IDisposable
{
    /// <summary>
    /// Between two steps of filling while journals are busy: at 256 KiB a step this is 12 MB/s, which a commit hardly
    /// notices.
    /// </summary>
    private static readonly TimeSpan FillPause = TimeSpan.FromMilliseconds(20);

    private readonly object _lock = new();
    private readonly Queue<Action> _work = new();
    private readonly Queue<Func<bool>> _fills = new();
    private readonly Thread _thread;
    private bool _stopping;

    public SupplyThread()
    {
        _thread = new Thread(Run) { Name = "lightq-supply", IsBackground = true };
        _thread.Start();
    }

    public void Post(Action work)
    {
        lock (_lock)
        {
            _work.Enqueue(work);
            Monitor.Pulse(_lock);
        }
    }

    /// <summary>
    /// Does steps, each behind a pause and behind all other work, until one says that it was the last.
    /// </summary>
    public void PostSteps(Func<bool> step)
    {
        lock (_lock)
        {
            _fills.Enqueue(step);
            Monitor.Pulse(_lock);
        }
    }

    public void Dispose()
    {
        lock (_lock)
        {
            _stopping = true;
            Monitor.Pulse(_lock);
        }
        _thread.Join();
    }

    private void Run()
    {
        while (TryNext(out Action? work, out Func<bool>? step))
        {
            work?.Invoke();
            if (step is not null && step())
                PostSteps(step);
        }
    }

    private bool TryNext(out Action? work, out Func<bool>? step)
    {
        step = null;
        lock (_lock)
        {
            while (!_work.TryDequeue(out work))
            {
                if (_stopping)
                    return false;
                if (_fills.Count == 0)
                {
                    Monitor.Wait(_lock);
                }
                else if (!Monitor.Wait(_lock, FillPause) && _work.Count == 0)
                {
                    step = _fills.Dequeue();
                    return true;
                }
            }
            return true;
        }
    }
}
