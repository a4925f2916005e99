using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace LightQ.Disruptor;

/// <summary>
/// Spins without pause: the lowest latency, for a thread that has a core to itself. Works between processes.
/// </summary>
public sealed class BusySpinWaitStrategy : WaitStrategy
{
    internal override void WaitFor(long position, SequenceBarrier barrier)
    {
        while (!barrier.IsReady(position))
        {
            Pause();
        }
    }

    internal static void Pause()
    {
        if (X86Base.IsSupported)
        {
            X86Base.Pause();
        }
        else if (ArmBase.IsSupported)
        {
            ArmBase.Yield();
        }
    }
}
