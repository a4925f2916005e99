using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class GateTests
{
    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void A_gate_added_at_a_lost_position_moves_up_to_the_tail(RingProducers producers)
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 256, producers);
        for (int i = 0; i < 40; i++)
        {
            TestEntries.Publish(ring, 104, i);
        }

        var gate = new Sequence();
        long held = ring.AddGate(gate, 104);
        Assert.Equal(ring.Tail, held);
        Assert.Equal(held, gate.Value);
        List<int> numbers = TestEntries.ReadAll(ring, ref held);
        Assert.Equal(39, numbers[^1]);
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void The_slowest_gate_decides_and_removing_it_frees_the_ring(RingProducers producers)
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 256, producers);
        Sequence slow = new(),
            fast = new();
        ring.AddGate(slow, 0);
        ring.AddGate(fast, 0);
        for (int i = 0; i < 4; i++)
        {
            TestEntries.Publish(ring, 256, i);
        }

        fast.Value = 1024;
        Assert.Equal(ClaimResult.Full, TestEntries.TryPublish(ring, 256, 4));
        Assert.True(ring.RemoveGate(slow));
        Assert.False(ring.RemoveGate(slow));
        Assert.Equal(ClaimResult.Claimed, TestEntries.TryPublish(ring, 256, 4));
        Assert.Equal(1, ring.GateCount);
    }

    [Fact]
    public void A_gate_stands_on_what_is_published_and_only_once()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 256);
        var gate = new Sequence();
        Assert.Throws<ArgumentOutOfRangeException>(() => ring.AddGate(gate, 8));
        ring.AddGate(gate, 0);
        Assert.Throws<ArgumentException>(() => ring.AddGate(gate, 0));
    }

    [Theory]
    [InlineData(RingProducers.Single, false)]
    [InlineData(RingProducers.Multiple, false)]
    [InlineData(RingProducers.Single, true)]
    [InlineData(RingProducers.Multiple, true)]
    public void Consumers_that_come_and_go_under_load_read_every_entry_from_where_they_hold(
        RingProducers producers,
        bool shared
    )
    {
        using RingMemory memory = RingMemory.Native(4096);
        var ring = new ByteRing(memory, 256, producers);
        using var done = new CancellationTokenSource();
        var producer = new Thread(() => Produce(ring, done.Token));
        producer.Start();
        try
        {
            for (int visit = 0; visit < 1000; visit++)
            {
                Visit(ring, shared, entries: visit % 5);
            }
        }
        finally
        {
            done.Cancel();
            producer.Join();
        }

        Assert.Equal(0, ring.GateCount);
    }

    private static void Produce(ByteRing ring, CancellationToken done)
    {
        for (int i = 0; !done.IsCancellationRequested; )
        {
            i += TestEntries.TryPublish(ring, 16 + (i % 31 * 8), i) == ClaimResult.Claimed ? 1 : 0;
        }
    }

    private static void Visit(ByteRing ring, bool shared, int entries)
    {
        Sequence? gate = new();
        if (shared)
        {
            Assert.True(ring.TryAddSharedGate(ring.Tail, out gate));
        }
        else
        {
            ring.AddGate(gate, ring.Tail);
        }

        long position = gate.Value;
        int expected = -1;
        while (
            entries > 0
            && (ring.TryGetRun(position, 1024, out RingRun run) || run.NextPosition > position || expected < 0)
        )
        {
            foreach (ReadOnlySpan<byte> entry in run)
            {
                Assert.True(TestEntries.IsWhole(entry));
                Assert.True(expected < 0 || TestEntries.Number(entry) == expected);
                expected = TestEntries.Number(entry) + 1;
                entries--;
            }

            position = run.NextPosition;
            gate.Value = position;
        }

        Assert.True(ring.RemoveGate(gate));
    }
}
