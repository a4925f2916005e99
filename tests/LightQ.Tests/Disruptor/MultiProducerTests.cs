using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class MultiProducerTests
{
    [Fact]
    public void Entries_published_out_of_order_appear_in_the_order_of_their_claims()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 256, RingProducers.Multiple);
        var claims = new RingClaim[3];
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(ClaimResult.Claimed, ring.TryClaim(32, out claims[i]));
            TestEntries.Fill(claims[i], i);
        }

        ring.Publish(claims[2]);
        ring.Publish(claims[1]);
        Assert.Equal(0, ring.Published);
        ring.Publish(claims[0]);
        long position = 0;
        Assert.Equal([0, 1, 2], TestEntries.ReadAll(ring, ref position));
    }

    [Fact]
    public void An_aborted_claim_lets_those_behind_it_through()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 256, RingProducers.Multiple);
        Assert.Equal(ClaimResult.Claimed, ring.TryClaim(32, out RingClaim first));
        TestEntries.Publish(ring, 32, 1);
        ring.Abort(first);
        long position = 0;
        Assert.Equal([1], TestEntries.ReadAll(ring, ref position));
        Assert.Equal(64, position);
    }

    [Fact]
    public void An_unpublished_claim_is_not_overwritten_by_those_behind_it()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 256, RingProducers.Multiple);
        Assert.Equal(ClaimResult.Claimed, ring.TryClaim(256, out RingClaim held));
        TestEntries.Fill(held, 0);
        for (int i = 1; i < 4; i++)
        {
            TestEntries.Publish(ring, 256, i);
        }

        Assert.Equal(ClaimResult.Full, TestEntries.TryPublish(ring, 16, 4));
        ring.Publish(held);
        long position = 0;
        Assert.Equal([0, 1, 2, 3], TestEntries.ReadAll(ring, ref position));
        Assert.Equal(ClaimResult.Claimed, TestEntries.TryPublish(ring, 16, 4));
    }

    [Fact]
    public void A_producer_that_slept_for_a_lap_does_not_take_a_step_that_is_not_due()
    {
        using RingMemory memory = RingMemory.Pinned(512);
        var producer = new MultiProducer(memory, new OverwriteGuard(memory, new GateSet(memory)));
        for (int i = 0; i < 8; i++)
        {
            Assert.Equal(ClaimResult.Claimed, producer.TryClaim(64, out RingClaim claim));
            producer.Publish(claim);
        }

        Assert.Equal(ClaimResult.Claimed, producer.TryClaim(64, out RingClaim first));
        Assert.Equal(ClaimResult.Claimed, producer.TryClaim(64, out RingClaim second));
        producer.Publish(second);
        Assert.True(producer.TryAdvance(head: 64), "the sleeper saw the head where the second entry is now, a lap ago");
        Assert.Equal(512, PublishedOf(memory));
        producer.Publish(first);
        Assert.Equal(512 + 128, PublishedOf(memory));
    }

    [Theory]
    [InlineData(2, 1024)]
    [InlineData(4, 512)]
    [InlineData(4, 64 * 1024)]
    public void Every_entry_of_every_producer_is_seen_once_and_in_order(int producers, int capacity)
    {
        int entries = capacity < 1024 ? 5_000 : 20_000; // On a ring that is always full they hardly get on.
        using RingMemory memory = RingMemory.Native(capacity);
        var ring = new ByteRing(memory, 128, RingProducers.Multiple);
        var gate = new Sequence();
        ring.AddGate(gate, 0);
        Thread[] threads = [.. Enumerable.Range(0, producers).Select(p => new Thread(() => Produce(ring, p, entries)))];
        Array.ForEach(threads, thread => thread.Start());

        var next = new int[producers];
        long position = 0;
        for (int left = producers * entries; left > 0; )
        {
            if (ring.TryGetRun(position, 4096, out RingRun run))
            {
                foreach (ReadOnlySpan<byte> entry in run)
                {
                    Assert.True(TestEntries.IsWhole(entry));
                    Assert.Equal(next[TestEntries.Producer(entry)]++, TestEntries.Number(entry));
                    left--;
                }
            }
            else
            {
                Thread.Yield();
            }

            position = run.NextPosition;
            gate.Value = position;
        }

        Array.ForEach(threads, thread => thread.Join());
        Assert.All(next, count => Assert.Equal(entries, count));
        _ = ring.TryGetRun(position, 1, out RingRun end);
        Assert.Equal(ring.Published, end.NextPosition);
    }

    [Fact]
    public void Without_gates_producers_lap_each_other_and_nothing_is_lost_from_the_head()
    {
        const int Entries = 50_000;
        using RingMemory memory = RingMemory.Native(512);
        var ring = new ByteRing(memory, 128, RingProducers.Multiple);
        Thread[] threads = [.. Enumerable.Range(0, 4).Select(p => new Thread(() => Produce(ring, p, Entries)))];
        Array.ForEach(threads, thread => thread.Start());
        Array.ForEach(threads, thread => thread.Join());

        // Had an advance been lost, the head would stand still and the next lap would be Full for ever.
        for (int i = 0; i < 100; i++)
        {
            TestEntries.Publish(ring, 128, i);
        }

        long position = ring.Tail;
        Assert.Equal(99, TestEntries.ReadAll(ring, ref position)[^1]);
        Assert.Equal(ring.Published, position);
    }

    private static unsafe long PublishedOf(RingMemory memory) => *memory.Control.Published;

    private static void Produce(ByteRing ring, int producer, int entries)
    {
        var random = new Random(producer);
        for (int i = 0; i < entries; )
        {
            int length = random.Next(2, 17) * 8;
            if (random.Next(10) == 0 && ring.TryClaim(length, out RingClaim claim) == ClaimResult.Claimed)
            {
                ring.Abort(claim);
            }

            if (TestEntries.TryPublish(ring, length, i, producer) == ClaimResult.Claimed)
            {
                i++;
            }
            else
            {
                Thread.Yield();
            }
        }
    }
}
