using System.Runtime.InteropServices;
using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class PinnedRingTests : RingContract
{
    protected override RingMemory NewMemory(int capacity) => RingMemory.Pinned(capacity);

    [Fact]
    public void A_run_is_an_array_segment()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 64);
        TestEntries.Publish(ring, 64, 1);
        Assert.True(ring.TryGetRun(0, 64, out RingRun run));
        Assert.True(MemoryMarshal.TryGetArray(run.Memory, out ArraySegment<byte> segment));
        Assert.Equal(64, segment.Count);
    }
}
