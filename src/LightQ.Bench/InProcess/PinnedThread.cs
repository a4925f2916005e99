using System.Collections.Concurrent;

namespace LightQ.Bench.InProcess;

/// <summary>A thread on a CPU of its own, as far as the system lets it, that does one thing after the other.</summary>
internal sealed class PinnedThread : IDisposable
{
    private readonly BlockingCollection<Action> _work = [];
    private readonly Thread _thread;

    public PinnedThread(string name, int cpu)
    {
        _thread = new Thread(() => Run(cpu)) { Name = name, IsBackground = true };
        _thread.Start();
    }

    /// <summary>Whether it really stays on that CPU; known once it has done something.</summary>
    public bool IsPinned { get; private set; }

    /// <summary>Does something on the thread.</summary>
    public Task<T> RunAsync<T>(Func<T> work)
    {
        // The caller that waits continues on another thread: this one has its CPU for the work alone.
        var result = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        _work.Add(() =>
        {
            try
            {
                result.SetResult(work());
            }
            catch (Exception e)
            {
                result.SetException(e);
            }
        });
        return result.Task;
    }

    /// <summary>Ends the thread behind what it was given.</summary>
    public void Dispose()
    {
        _work.CompleteAdding();
        _thread.Join();
        _work.Dispose();
    }

    private void Run(int cpu)
    {
        IsPinned = ThreadAffinity.TryPin(cpu);
        foreach (Action work in _work.GetConsumingEnumerable())
            work();
    }
}
