namespace LightQ.Client.Timing;

/// <summary>
/// A thread for what a client does by itself, as connecting again: it goes on when the application has filled the
/// thread pool with work that blocks.
/// </summary>
/// <remarks>
/// Thread-safe. It is the context of the asynchronous methods that run on it: what they await continues here, unless
/// they say otherwise. The thread begins with the first work. What is posted after <see cref="Stop"/> runs on the
/// thread pool.
/// </remarks>
internal sealed class ClientThread(string name) : SynchronizationContext
{
    private readonly object _gate = new();
    private readonly Queue<(SendOrPostCallback Callback, object? State)> _posted = new();
    private bool _isRunning;
    private bool _isStopped;

    /// <summary>Begins an asynchronous method on the thread. Does not wait, not even for its first step.</summary>
    /// <returns>Completes as the method does.</returns>
    public Task RunAsync(Func<Task> work)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Post(_ => RunAsync(work, done), null);
        return done.Task;
    }

    public override void Post(SendOrPostCallback d, object? state)
    {
        lock (_gate)
        {
            if (!_isStopped)
            {
                _posted.Enqueue((d, state));
                if (_isRunning)
                    Monitor.Pulse(_gate);
                else
                    new Thread(Run) { IsBackground = true, Name = name }.UnsafeStart();
                _isRunning = true;
                return;
            }
        }
        ThreadPool.UnsafeQueueUserWorkItem(static work => work.d(work.state), (d, state), preferLocal: false);
    }

    /// <summary>Ends the thread once it has done what was posted.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            _isStopped = true;
            Monitor.Pulse(_gate);
        }
    }

    private static async void RunAsync(Func<Task> work, TaskCompletionSource done)
    {
        try
        {
            await work();
            done.SetResult();
        }
        catch (Exception e)
        {
            done.SetException(e); // Handed to who waits for it.
        }
    }

    private void Run()
    {
        SetSynchronizationContext(this);
        while (true)
        {
            (SendOrPostCallback Callback, object? State) next;
            lock (_gate)
            {
                while (!_posted.TryDequeue(out next))
                {
                    if (_isStopped)
                        return;
                    Monitor.Wait(_gate);
                }
            }
            next.Callback(next.State);
        }
    }
}
