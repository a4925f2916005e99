using LightQ.Scheduling;

namespace LightQ.Storage.Reading;

/// <summary>The threads that read old data, so that no socket thread waits for a disk.</summary>
internal sealed class CatchUpThreads : IDisposable
{
    private readonly Lock _lock = new();
    private readonly Queue<DiskRead> _starved = new();
    private readonly WorkerThreads<DiskRead> _threads;

    public CatchUpThreads(JournalEnvironmentOptions options)
    {
        Pool = new ReadBufferPool(options.ReadBufferBytes, options.ReadBudgetBytes);
        _threads = new(Enumerable.Range(0, options.Readers).Select(i => $"lightq-reader-{i}"), Execute);
    }

    public ReadBufferPool Pool { get; }

    public void Enqueue(DiskRead read) => _threads.Enqueue(read);

    /// <summary>Gives a buffer back; a read that waited for one goes on.</summary>
    public void Return(ReadBuffer buffer)
    {
        Pool.Return(buffer);
        lock (_lock)
        {
            if (_starved.TryDequeue(out DiskRead? read))
                _threads.Enqueue(read);
        }
    }

    public void Dispose() => _threads.Dispose();

    /// <returns>Whether it has to be tried again at once.</returns>
    private bool Execute(DiskRead read) => !read.Execute() && !TryStarve(read);

    /// <summary>Puts a read aside until a buffer comes back.</summary>
    /// <returns>False when one has come back meanwhile.</returns>
    private bool TryStarve(DiskRead read)
    {
        lock (_lock)
        {
            if (Pool.IsWhole)
                return false;
            _starved.Enqueue(read);
            return true;
        }
    }
}
