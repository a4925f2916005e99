using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class OverwriteTests
{
    [Fact]
    public void A_copied_run_is_intact_until_a_producer_may_write_over_it()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 256);
        for (int i = 0; i < 4; i++)
        {
            TestEntries.Publish(ring, 256, i);
        }

        Assert.True(ring.IsIntact(0));
        Assert.Equal(ClaimResult.Claimed, ring.TryClaim(16, out _));
        Assert.False(ring.IsIntact(0));
        Assert.True(ring.IsIntact(256));
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void A_reader_without_a_gate_never_takes_overwritten_bytes_for_whole(RingProducers producers)
    {
        const int Entries = 100_000;
        using RingMemory memory = RingMemory.Native(2048);
        var ring = new ByteRing(memory, 256, producers);
        var producer = new Thread(() =>
        {
            for (int i = 0; i < Entries; i++)
            {
                _ = TestEntries.TryPublish(ring, 16 + (i % 31 * 8), i);
            }
        });
        producer.Start();
        var copy = new byte[512];
        long position = 0;
        int torn = 0,
            gaps = 0,
            last = -1;
        while (last != Entries - 1)
        {
            if (!ring.TryGetRun(position, 512, out RingRun run) || !TryCopy(ring, run, copy, out int length))
            {
                bool lost = !ring.IsIntact(position);
                gaps += lost ? 1 : 0;
                position = lost ? ring.Tail : Math.Max(position, run.NextPosition);
                continue;
            }

            for (int at = 0; at < length; )
            {
                int entry = BitConverter.ToInt32(copy, at);
                torn +=
                    TestEntries.IsWhole(copy.AsSpan(at, entry)) && TestEntries.Number(copy.AsSpan(at)) > last ? 0 : 1;
                last = TestEntries.Number(copy.AsSpan(at));
                at += entry;
            }

            position = run.NextPosition;
        }

        producer.Join();
        Assert.Equal(0, torn);
        Assert.True(gaps > 0, "the producer was meant to lap the reader");
    }

    private static bool TryCopy(ByteRing ring, RingRun run, byte[] copy, out int length)
    {
        length = run.Length;
        if (length > copy.Length)
        {
            return false;
        }

        run.Span.CopyTo(copy);
        return ring.IsIntact(run.Position);
    }
}
