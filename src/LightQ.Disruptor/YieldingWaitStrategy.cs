namespace LightQ.Disruptor;

/// <summary>
/// Spins a while, then offers the core to other threads in between: low latency when cores are shared. Works between
/// processes.
/// </summary>
/// <remarks>It still uses a whole core when no other thread needs it.</remarks>
public sealed class YieldingWaitStrategy : WaitStrategy
{
    private const int SpinsBeforeYield = 100;

    internal override void WaitFor(long position, SequenceBarrier barrier)
    {
        int spins = SpinsBeforeYield;
        while (!barrier.IsReady(position))
        {
            if (spins > 0)
            {
                spins--;
                BusySpinWaitStrategy.Pause();
            }
            else
            {
                Thread.Yield();
            }
        }
    }
}
