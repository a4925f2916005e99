namespace LightQ.Disruptor;

/// <summary>How a consumer waits for entries: a trade-off between latency and processor time.</summary>
/// <remarks>
/// One of <see cref="BusySpinWaitStrategy"/>, <see cref="YieldingWaitStrategy"/>, <see cref="BlockingWaitStrategy"/>.
/// Used only when there is nothing to read.
/// </remarks>
public abstract class WaitStrategy
{
    private protected WaitStrategy() { }

    /// <summary>
    /// Returns when the ring's published position is above <paramref name="position"/>, or the barrier is alerted.
    /// </summary>
    internal abstract void WaitFor(long position, SequenceBarrier barrier);

    /// <summary>Wakes whoever waits, so that it looks at its barrier again.</summary>
    internal virtual void SignalAll() { }
}
