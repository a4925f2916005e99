using LightQ.Bench.Checks;
using LightQ.Disruptor;

namespace LightQ.Bench.InProcess;

/// <summary>
/// What lies between a producer and a consumer. One object for two threads of a process, or one in each of two
/// processes.
/// </summary>
internal abstract class HandOverLink : IDisposable
{
    private const int RingBytes = 1 << 20;

    /// <summary>Makes what the spec names, or finds it where the other process has made it.</summary>
    public static HandOverLink Open(HandOverSpec spec) =>
        spec.Target switch
        {
            InProcessTarget.Ring => new RingLink(RingMemory.Native(RingBytes), RingProducers.Single, spec.Size),
            InProcessTarget.RingMulti => new RingLink(RingMemory.Native(RingBytes), RingProducers.Multiple, spec.Size),
            InProcessTarget.FileRing => new RingLink(
                RingMemory.Mapped(Path.Combine(spec.Directory, "ring"), RingBytes),
                RingProducers.Single,
                spec.Size
            ),
            InProcessTarget.Journal => new JournalLink(Path.Combine(spec.Directory, "journal"), spec.Size),
            _ => throw new ArgumentOutOfRangeException(nameof(spec), spec.Target, "There is no such target."),
        };

    /// <summary>First of all, at the producer's end.</summary>
    public virtual void Begin()
    {
        // Most links have nothing to prepare.
    }

    /// <summary>
    /// Behind that and before anything is sent, at the consumer's end: from here on nothing is lost for it.
    /// </summary>
    public abstract void Join();

    /// <summary>Sends, on the calling thread.</summary>
    public abstract void Send(SendPlan plan, CancellationToken stop);

    /// <summary>Receives until the check has everything, on the calling thread.</summary>
    public abstract void Receive(DeliveryCheck check, CancellationToken stop);

    public abstract void Dispose();
}
