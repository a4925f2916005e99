using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class NativeRingTests : RingContract
{
    protected override RingMemory NewMemory(int capacity) => RingMemory.Native(capacity);

    [Fact]
    public void Releasing_empties_the_ring_and_leaves_it_usable()
    {
        using RingMemory memory = RingMemory.Native(64 * 1024);
        var ring = new ByteRing(memory, 1024);
        TestEntries.Publish(ring, 1000, 1);
        Assert.Equal(1000, ring.TouchedBytes);
        Assert.Equal(OperatingSystem.IsLinux(), ring.TryRelease());
        Assert.SkipUnless(OperatingSystem.IsLinux(), "pages are given back on Linux only");

        Assert.Equal(0, ring.TouchedBytes);
        Assert.False(ring.IsIntact(0));
        Assert.Equal(-1, memory.Memory.Span.IndexOfAnyExcept((byte)0));
        long position = ring.Tail;
        TestEntries.Publish(ring, 1000, 2);
        Assert.Equal([2], TestEntries.ReadAll(ring, ref position));
    }

    [Fact]
    public void Releasing_is_refused_while_a_gate_has_entries_to_read()
    {
        using RingMemory memory = RingMemory.Native(64 * 1024);
        var ring = new ByteRing(memory, 1024);
        var gate = new Sequence();
        ring.AddGate(gate, 0);
        TestEntries.Publish(ring, 1000, 1);
        Assert.False(ring.TryRelease());
        Assert.True(ring.IsIntact(0));
    }
}
