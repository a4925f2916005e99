using FsCheck;
using FsCheck.Fluent;
using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

/// <summary>A ring with a gate against the simplest thing that could be right: a queue of numbers.</summary>
public sealed class RingModelTests
{
    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void A_gated_ring_is_a_queue(RingProducers producers)
    {
        Gen<int[]> steps = Gen.Choose(0, 99).ArrayOf(300);
        Prop.ForAll(steps.ToArbitrary(), sequence => Agrees(sequence, producers)).QuickCheckThrowOnFailure();
    }

    /// <summary>A step below 60 publishes, below 70 aborts, else reads; its value also chooses the lengths.</summary>
    private static bool Agrees(int[] steps, RingProducers producers)
    {
        using RingMemory memory = RingMemory.Pinned(512);
        var ring = new ByteRing(memory, 128, producers);
        var gate = new Sequence();
        ring.AddGate(gate, 0);
        var queue = new Queue<int>();
        long position = 0;
        int number = 0;
        foreach (int step in steps)
        {
            int length = 16 + (step % 15 * 8);
            if (step < 60)
            {
                ClaimResult result = TestEntries.TryPublish(ring, length, number);
                if (result == ClaimResult.Claimed)
                {
                    queue.Enqueue(number++);
                }
                else if (ring.Published - position + (2 * length) <= 512)
                {
                    return false; // Full although it fits, padding included.
                }
            }
            else if (step < 70)
            {
                if (ring.TryClaim(length, out RingClaim claim) == ClaimResult.Claimed)
                {
                    ring.Abort(claim);
                }
            }
            else if (!ReadRun(ring, step * 2, queue, ref position))
            {
                return false;
            }

            gate.Value = position;
        }

        return TestEntries.ReadAll(ring, ref position).SequenceEqual(queue);
    }

    private static bool ReadRun(ByteRing ring, int maxBytes, Queue<int> queue, ref long position)
    {
        bool any = ring.TryGetRun(position, maxBytes, out RingRun run);
        position = run.NextPosition;
        if (!any)
        {
            return queue.Count == 0;
        }

        foreach (ReadOnlySpan<byte> entry in run)
        {
            if (
                !queue.TryDequeue(out int expected)
                || TestEntries.Number(entry) != expected
                || !TestEntries.IsWhole(entry)
            )
            {
                return false;
            }
        }

        return true;
    }
}
