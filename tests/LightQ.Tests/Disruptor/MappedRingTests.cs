using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class MappedRingTests : RingContract, IDisposable
{
    private readonly TestDirectory _directory = new();
    private int _files;

    protected override RingMemory NewMemory(int capacity) =>
        RingMemory.Mapped(_directory.File($"ring{_files++}"), capacity);

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void What_one_mapping_publishes_the_other_reads(RingProducers producers)
    {
        string path = _directory.File("shared");
        using RingMemory here = RingMemory.Mapped(path, 4096);
        using RingMemory there = RingMemory.Mapped(path, 4096);
        var writer = new ByteRing(here, 256, producers);
        var reader = new ByteRing(there, 256, producers);
        Assert.True(reader.TryAddSharedGate(0, out Sequence? gate));
        long position = gate.Value;
        for (int i = 0; i < 200; i++)
        {
            TestEntries.Publish(writer, 16 + (i % 30 * 8), i);
            Assert.Equal([i], TestEntries.ReadAll(reader, ref position));
            gate.Value = position;
        }
    }

    [Fact]
    public void A_shared_gate_holds_back_the_producer_of_another_mapping_until_removed()
    {
        string path = _directory.File("shared");
        using RingMemory here = RingMemory.Mapped(path, 1024);
        using RingMemory there = RingMemory.Mapped(path, 1024);
        var writer = new ByteRing(here, 256);
        var reader = new ByteRing(there, 256);
        Assert.True(reader.TryAddSharedGate(0, out Sequence? gate));
        for (int i = 0; i < 4; i++)
        {
            TestEntries.Publish(writer, 256, i);
        }

        Assert.Equal(ClaimResult.Full, TestEntries.TryPublish(writer, 16, 4));
        Assert.Equal(1, writer.GateCount);
        Assert.True(reader.RemoveGate(gate));
        Assert.False(reader.RemoveGate(gate));
        Assert.Equal(ClaimResult.Claimed, TestEntries.TryPublish(writer, 16, 4));
    }

    [Fact]
    public void Shared_gates_run_out_and_come_back()
    {
        using RingMemory memory = NewMemory(1024);
        var ring = new ByteRing(memory, 256);
        var gates = new List<Sequence>();
        while (ring.TryAddSharedGate(0, out Sequence? gate))
        {
            gates.Add(gate);
        }

        Assert.Equal(16, gates.Count);
        Assert.True(ring.RemoveGate(gates[5]));
        Assert.True(ring.TryAddSharedGate(0, out _));
        ring.ClearSharedGates();
        Assert.Equal(0, ring.GateCount);
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public void A_ring_goes_on_where_it_was_left(RingProducers producers)
    {
        string path = _directory.File("kept");
        using (RingMemory memory = RingMemory.Mapped(path, 1024))
        {
            var ring = new ByteRing(memory, 256, producers);
            for (int i = 0; i < 20; i++)
            {
                TestEntries.Publish(ring, 104, i);
            }
        }

        using RingMemory again = RingMemory.Mapped(path, 1024);
        var rejoined = new ByteRing(again, 256, producers);
        TestEntries.Publish(rejoined, 104, 20);
        long position = rejoined.Tail;
        List<int> numbers = TestEntries.ReadAll(rejoined, ref position);
        Assert.Equal(Enumerable.Range(21 - numbers.Count, numbers.Count), numbers);
        Assert.InRange(numbers.Count, 8, 9);
    }

    [Fact]
    public void A_single_producer_that_died_with_a_claim_is_taken_over()
    {
        string path = _directory.File("orphan");
        using RingMemory dead = RingMemory.Mapped(path, 1024);
        Assert.Equal(ClaimResult.Claimed, new ByteRing(dead, 256).TryClaim(128, out _));
        using RingMemory alive = RingMemory.Mapped(path, 1024);
        var ring = new ByteRing(alive, 256);
        TestEntries.Publish(ring, 16, 1);
        long position = 0;
        Assert.Equal([1], TestEntries.ReadAll(ring, ref position));
    }

    [Fact]
    public void A_file_of_another_size_or_content_is_refused()
    {
        string path = _directory.File("other");
        File.WriteAllBytes(path, new byte[100]);
        Assert.Throws<InvalidDataException>(() => RingMemory.Mapped(path, 1024));
        var bytes = new byte[4096 + 1024 + 16];
        bytes.AsSpan().Fill(0x5a);
        File.WriteAllBytes(path, bytes);
        Assert.Throws<InvalidDataException>(() => RingMemory.Mapped(path, 1024));
    }

    void IDisposable.Dispose()
    {
        Dispose();
        _directory.Dispose();
    }
}
