namespace LightQ.Scheduling;

/// <summary>Threads that work through a queue in its order, and sleep while it is empty. Thread-safe.</summary>
/// <typeparam name="T">What is queued; whoever queues it sees that it is there as often as it may be.</typeparam>
public sealed class WorkerThreads<T> : IDisposable
{
    private readonly object _lock = new();
    private readonly Queue<T> _queue = new();
    private readonly Func<T, bool> _work;
    private readonly Thread[] _threads;
    private int _sleeping;
    private bool _stopping;

    /// <summary>Starts them.</summary>
    /// <param name="names">A name for each thread.</param>
    /// <param name="work">
    /// Does one turn of work. Must not throw. Returns whether there is more, which comes behind the rest.
    /// </param>
    public WorkerThreads(IEnumerable<string> names, Func<T, bool> work)
    {
        _work = work;
        _threads = [.. names.Select(name => new Thread(Run) { Name = name, IsBackground = true })];
        foreach (Thread thread in _threads)
            thread.Start();
    }

    /// <summary>Hands something over.</summary>
    public void Enqueue(T item)
    {
        lock (_lock)
        {
            _queue.Enqueue(item);
            if (_sleeping != 0)
                Monitor.Pulse(_lock);
        }
    }

    /// <summary>Works off what is queued, and waits until the threads have ended.</summary>
    public void Dispose()
    {
        lock (_lock)
        {
            _stopping = true;
            Monitor.PulseAll(_lock);
        }
        foreach (Thread thread in _threads)
            thread.Join();
    }

    private void Run()
    {
        while (TryDequeue(out T? item))
        {
            if (_work(item!))
                Enqueue(item!);
        }
    }

    private bool TryDequeue(out T? item)
    {
        lock (_lock)
        {
            while (!_queue.TryDequeue(out item))
            {
                if (_stopping)
                    return false;
                _sleeping++;
                Monitor.Wait(_lock);
                _sleeping--;
            }
            return true;
        }
    }
}
