namespace LightQ.Storage.Reading;

/// <summary>The threads that read old data, so that no socket thread waits for a disk.</summary>
internal sealed class CatchUpThreads : IDisposable
{
    private readonly object _lock = new();
    private readonly Queue<DiskRead> _queue = new();
    private readonly Queue<DiskRead> _starved = new();
    private readonly Thread[] _threads;
    private bool _stopping;

    public CatchUpThreads(JournalEnvironmentOptions options)
    {
        Pool = new ReadBufferPool(options.ReadBufferBytes, options.ReadBudgetBytes);
        _threads = new Thread[options.Readers];
        for (int i = 0; i < _threads.Length; i++)
        {
            _threads[i] = new Thread(Run) { Name = $"lightq-reader-{i}", IsBackground = true };
            _threads[i].Start();
        }
    }

    public ReadBufferPool Pool { get; }

    public void Enqueue(DiskRead read)
    {
        lock (_lock)
        {
            _queue.Enqueue(read);
            Monitor.Pulse(_lock);
        }
    }

    /// <summary>Gives a buffer back; a read that waited for one goes on.</summary>
    public void Return(ReadBuffer buffer)
    {
        Pool.Return(buffer);
        lock (_lock)
        {
            if (_starved.TryDequeue(out DiskRead? read))
            {
                _queue.Enqueue(read);
                Monitor.Pulse(_lock);
            }
        }
    }

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
        while (TryDequeue(out DiskRead? read))
        {
            if (!read!.Execute())
                Starve(read);
        }
    }

    /// <summary>Puts a read aside until a buffer comes back; looks once more, for one may have come back meanwhile.</summary>
    private void Starve(DiskRead read)
    {
        lock (_lock)
            (Pool.IsWhole ? _queue : _starved).Enqueue(read);
    }

    private bool TryDequeue(out DiskRead? read)
    {
        lock (_lock)
        {
            while (!_queue.TryDequeue(out read))
            {
                if (_stopping)
                    return false;
                Monitor.Wait(_lock);
            }
            return true;
        }
    }
}
