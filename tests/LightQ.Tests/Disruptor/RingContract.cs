using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

/// <summary>What every ring does, whatever its memory and its number of producers.</summary>
public abstract class RingContract : IDisposable
{
    private const int Capacity = 1024;
    private readonly List<RingMemory> _memories = [];

    protected abstract RingMemory NewMemory(int capacity);

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void What_is_published_is_read_back_in_order(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        TestEntries.Publish(ring, 16, 1);
        TestEntries.Publish(ring, 40, 2);
        TestEntries.Publish(ring, 256, 3);

        Assert.True(ring.TryGetRun(0, int.MaxValue, out RingRun run));
        Assert.Equal((0, 312, 312), (run.Position, run.Length, run.NextPosition));
        Assert.True(run.Memory.Span.SequenceEqual(run.Span));
        long position = 0;
        Assert.Equal([1, 2, 3], TestEntries.ReadAll(ring, ref position));
        Assert.Equal(ring.Published, position);
        Assert.False(ring.TryGetRun(position, int.MaxValue, out run));
        Assert.Equal((0, position), (run.Length, run.NextPosition));
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void A_claim_is_invisible_until_published(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        Assert.Equal(ClaimResult.Claimed, ring.TryClaim(64, out RingClaim claim));
        Assert.False(ring.TryGetRun(0, int.MaxValue, out _));
        TestEntries.Fill(claim, 7);
        ring.Publish(claim);
        long position = 0;
        Assert.Equal([7], TestEntries.ReadAll(ring, ref position));
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void Entries_that_would_straddle_the_end_begin_at_the_start_of_the_ring_at_every_alignment(
        RingProducers producers
    )
    {
        for (int length = TestEntries.MinLength; length <= Capacity / 4; length += 8)
        {
            for (int lead = TestEntries.MinLength; lead <= 64; lead += 8)
            {
                ByteRing ring = NewRing(producers);
                var gate = new Sequence();
                ring.AddGate(gate, 0);
                long position = 0;
                TestEntries.Publish(ring, lead, 0);
                Assert.Equal([0], TestEntries.ReadAll(ring, ref position));
                for (int i = 1; i < 4 * Capacity / length; i++)
                {
                    gate.Value = position;
                    Assert.Equal(ClaimResult.Claimed, ring.TryClaim(length, out RingClaim claim));
                    Assert.InRange(claim.Position % Capacity, 0, Capacity - length);
                    TestEntries.Fill(claim, i);
                    ring.Publish(claim);
                    Assert.Equal([i], TestEntries.ReadAll(ring, ref position));
                }
            }
        }
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void Publish_to_a_full_ring_returns_Full(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        var gate = new Sequence();
        ring.AddGate(gate, 0);
        for (int i = 0; i < Capacity / 64; i++)
        {
            TestEntries.Publish(ring, 64, i);
        }

        Assert.Equal(ClaimResult.Full, TestEntries.TryPublish(ring, 16, 99));
        gate.Value = 64;
        Assert.Equal(ClaimResult.Claimed, TestEntries.TryPublish(ring, 64, 16));
        Assert.Equal(ClaimResult.Full, TestEntries.TryPublish(ring, 16, 99));
        long position = 64;
        Assert.Equal(Enumerable.Range(1, 16), TestEntries.ReadAll(ring, ref position));
        Assert.Equal(64, ring.Tail);
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void A_run_holds_whole_entries_up_to_the_limit_and_at_least_one(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        TestEntries.Publish(ring, 64, 1);
        TestEntries.Publish(ring, 64, 2);
        TestEntries.Publish(ring, 64, 3);

        Assert.True(ring.TryGetRun(0, 1, out RingRun run));
        Assert.Equal(64, run.Length);
        Assert.True(ring.TryGetRun(0, 64 + 63, out run));
        Assert.Equal(64, run.Length);
        Assert.True(ring.TryGetRun(0, 128, out run));
        Assert.Equal(128, run.Length);
        Assert.True(ring.TryGetRun(64, end: 128, 1000, out run));
        Assert.Equal((64, 64, 128), (run.Position, run.Length, run.NextPosition));
        Assert.False(ring.TryGetRun(128, end: 128, 1000, out _));
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void Without_gates_the_oldest_entries_give_way_and_the_tail_stays_on_an_entry(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        var random = new Random(11);
        for (int i = 0; i < 2000; i++)
        {
            TestEntries.Publish(ring, random.Next(2, 33) * 8, i);
            long position = ring.Tail;
            Assert.InRange(ring.Published - position, 0, Capacity);
            List<int> numbers = TestEntries.ReadAll(ring, ref position);
            Assert.Equal(Enumerable.Range(i - numbers.Count + 1, numbers.Count), numbers);
            Assert.True(numbers.Count > 0);
            Assert.True(i < 100 || ring.Published - ring.Tail > Capacity / 2, "the ring keeps most of a lap");
        }
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void An_aborted_claim_is_skipped(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        var gate = new Sequence();
        ring.AddGate(gate, 0);
        long position = 0;
        for (int i = 0; i < 500; i++)
        {
            Assert.Equal(ClaimResult.Claimed, ring.TryClaim(8 + (i % 32 * 8), out RingClaim claim));
            ring.Abort(claim);
            TestEntries.Publish(ring, 16 + (i % 7 * 8), i);
            Assert.Equal([i], TestEntries.ReadAll(ring, ref position));
            gate.Value = position;
        }
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void Padding_alone_moves_the_reader_on(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        Assert.Equal(ClaimResult.Claimed, ring.TryClaim(64, out RingClaim claim));
        ring.Abort(claim);
        Assert.False(ring.TryGetRun(0, int.MaxValue, out RingRun run));
        Assert.Equal(ring.Published, run.NextPosition);
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void Lengths_are_checked_before_anything_is_claimed(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        Assert.Equal(ClaimResult.TooLarge, ring.TryClaim((Capacity / 4) + 8, out _));
        foreach (int length in new[] { 0, -8, 4, 17, int.MinValue, 0x7fff_ffff })
        {
            Assert.Throws<ArgumentOutOfRangeException>(() => ring.TryClaim(length, out _));
        }

        TestEntries.Publish(ring, Capacity / 4, 1);
        Assert.Equal(Capacity / 4, ring.Published);
    }

    [Fact]
    public void A_ring_too_small_for_four_entries_is_refused_naming_both_sizes()
    {
        var error = Assert.Throws<ArgumentException>(() =>
            new ByteRing(Remember(NewMemory(Capacity)), (Capacity / 4) + 1)
        );
        Assert.Contains("1024", error.Message, StringComparison.Ordinal);
        Assert.Contains("257", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(256)]
    [InlineData(1000)]
    [InlineData(int.MaxValue)]
    public void A_capacity_that_is_no_power_of_two_or_too_small_is_refused(int capacity) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => NewMemory(capacity));

    [Fact]
    public void Memory_carries_one_kind_of_ring()
    {
        RingMemory memory = Remember(NewMemory(Capacity));
        _ = new ByteRing(memory, 64, RingProducers.Multiple);
        Assert.Throws<InvalidOperationException>(() => new ByteRing(memory, 64, RingProducers.Single));
        Assert.Throws<InvalidOperationException>(() => new ByteRing(memory, 128, RingProducers.Multiple));
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void Claiming_publishing_and_reading_allocate_nothing(RingProducers producers)
    {
        ByteRing ring = NewRing(producers);
        long position = 0;
        long before = 0;
        for (int i = 0; i < 2000; i++)
        {
            if (i == 1000)
            {
                before = GC.GetAllocatedBytesForCurrentThread();
            }

            _ = TestEntries.TryPublish(ring, 40, i);
            if (ring.TryGetRun(position, 4096, out RingRun run))
            {
                foreach (ReadOnlySpan<byte> entry in run)
                {
                    _ = TestEntries.IsWhole(entry);
                }
            }

            position = run.NextPosition;
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    public void Dispose()
    {
        _memories.ForEach(memory => memory.Dispose());
        GC.SuppressFinalize(this);
    }

    private RingMemory Remember(RingMemory memory)
    {
        _memories.Add(memory);
        return memory;
    }

    private ByteRing NewRing(RingProducers producers) => new(Remember(NewMemory(Capacity)), Capacity / 4, producers);
}
