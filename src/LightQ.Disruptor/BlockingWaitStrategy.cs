namespace LightQ.Disruptor;

/// <summary>
/// Sleeps until woken: uses no processor time while idle, and adds the latency of a thread wake-up. Within one process
/// only.
/// </summary>
/// <remarks>
/// While no thread waits, a publication costs one fence and one read. A wake-up is never missed. A waiting thread
/// counts itself, fences, and checks again before it sleeps. A publishing thread writes the position, fences, and
/// checks the count.
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
