namespace LightQ.Disruptor;

/// <summary>
/// Sleeps until woken: no processor time while idle, a thread wake-up of latency. Within one process only.
/// </summary>
/// <remarks>
/// While nobody waits a publication costs one fence and one read. A wake is never missed: who waits counts itself,
/// fences, and looks again before sleeping; who publishes writes the position, fences, and looks at the count.
/// </remarks>
public sealed class BlockingWaitStrategy : WaitStrategy
{
    private readonly object _gate = new();
    private int _waiters;

    internal void Signal()
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _waiters) != 0)
        {
            SignalAll();
        }
    }

    internal override void SignalAll()
    {
        lock (_gate)
        {
            Monitor.PulseAll(_gate);
        }
    }

    internal override void WaitFor(long position, SequenceBarrier barrier)
    {
        lock (_gate)
        {
            Interlocked.Increment(ref _waiters);
            try
            {
                while (!barrier.IsReady(position))
                {
                    Monitor.Wait(_gate);
                }
            }
            finally
            {
                Interlocked.Decrement(ref _waiters);
            }
        }
    }
}
