namespace LightQ.Storage.Writing;

/// <summary>One of the threads that write journals: sleeps until one is handed over, gives each one commit in turn.</summary>
internal sealed class WriterThread : IDisposable
{
    private readonly object _lock = new();
    private readonly Queue<Journal> _queue = new();
    private readonly Thread _thread;
    private bool _sleeping;
    private bool _stopping;

    public WriterThread(int number)
    {
        _thread = new Thread(Run) { Name = $"lightq-journal-{number}", IsBackground = true };
        _thread.Start();
    }

    /// <summary>Hands a journal over. A journal is in the queue at most once.</summary>
    public void Enqueue(Journal journal)
    {
        lock (_lock)
        {
            _queue.Enqueue(journal);
            if (_sleeping)
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
        while (TryDequeue(out Journal? journal))
        {
            if (journal!.RunWriter())
                Enqueue(journal);
        }
    }

    private bool TryDequeue(out Journal? journal)
    {
        lock (_lock)
        {
            while (!_queue.TryDequeue(out journal))
            {
                if (_stopping)
                    return false;
                _sleeping = true;
                Monitor.Wait(_lock);
                _sleeping = false;
            }
            return true;
        }
    }
}
