using LightQ.Bench.Checks;
using LightQ.Disruptor;

namespace LightQ.Bench.InProcess;

/// <summary>A ring whose consumer holds producers back, so that nothing is overwritten unread.</summary>
internal sealed class RingLink(RingMemory memory, RingProducers producers, int size) : HandOverLink
{
    private readonly ByteRing _ring = new(memory, PayloadEntry.LengthFor(size), producers, new BusySpinWaitStrategy());
    private readonly MessagePattern _pattern = new(size);
    private Sequence? _gate;

    public override void Join()
    {
        if (memory.IsShared)
        {
            if (!_ring.TryAddSharedGate(_ring.Published, out _gate))
                throw new BenchException(BenchFailure.Failed, "All shared gates of the ring are taken.");
            return;
        }
        _gate = new Sequence();
        _ring.AddGate(_gate, _ring.Published);
    }

    public override void Send(SendPlan plan, CancellationToken stop) =>
        HandOverLoops.Send(new Sender(_ring, _pattern), plan, stop);

    public override void Receive(DeliveryCheck check, CancellationToken stop)
    {
        if (_gate is null)
            throw new InvalidOperationException("The consumer has not joined.");
        HandOverLoops.Receive(new Receiver(_ring, _gate), check, stop);
    }

    public override void Dispose() => memory.Dispose();

    private readonly struct Sender(ByteRing ring, MessagePattern pattern) : ISender
    {
        public bool TrySend(long sequence, long stamp) =>
            ring.TryPublishPayload(pattern.Body(sequence, stamp)) == ClaimResult.Claimed;
    }

    private readonly struct Receiver(ByteRing ring, Sequence gate) : IReceiver
    {
        private const int MaxRunBytes = 64 * 1024;

        public void Receive(DeliveryCheck check)
        {
            long position = gate.Value;
            if (ring.TryGetRun(position, MaxRunBytes, out RingRun run))
            {
                foreach (ReadOnlySpan<byte> entry in run)
                    check.Take(PayloadEntry.Payload(entry));
            }
            if (run.NextPosition != position)
                gate.Value = run.NextPosition;
        }
    }
}
