using System.Buffers.Binary;
using BenchmarkDotNet.Attributes;
using LightQ.Disruptor;

namespace LightQ.Benchmarks.Disruptor;

/// <summary>What finding a run costs, and walking its entries: 64 KiB of equal entries.</summary>
[MemoryDiagnoser]
[BenchmarkCategory("ring")]
public class RunBenchmarks
{
    private const int Filled = 64 * 1024;
    private readonly byte[] _plain = new byte[Filled];
    private RingMemory? _memory;
    private ByteRing? _ring;

    [Params(RingProducers.Single, RingProducers.Multiple)]
    public RingProducers Producers { get; set; }

    [Params(64, 4096)]
    public int EntryLength { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _memory = RingMemory.Native(1 << 20);
        _ring = new ByteRing(_memory, 64 * 1024, Producers);
        for (int i = 0; i < Filled / EntryLength; i++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(_plain.AsSpan(i * EntryLength), EntryLength);
            _ring.TryClaim(EntryLength, out RingClaim claim);
            claim.Span.Clear();
            _ring.Publish(claim);
        }
    }

    [GlobalCleanup]
    public void Cleanup() => _memory!.Dispose();

    /// <summary>What no walk can do without: one length after the other.</summary>
    [Benchmark(Baseline = true)]
    public int SumLengths()
    {
        int at = 0;
        while (at < Filled)
        {
            at += BinaryPrimitives.ReadInt32LittleEndian(_plain.AsSpan(at));
        }

        return at;
    }

    /// <summary>
    /// One producer: no walk. Several: one length word per entry, for an aborted claim may lie between.
    /// </summary>
    [Benchmark]
    [TimeBudget(3)]
    public int FindRun()
    {
        _ring!.TryGetRun(0, Filled, out RingRun run);
        return run.Length;
    }

    [Benchmark]
    [TimeBudget(3)]
    public int FindRunUpToHalf()
    {
        _ring!.TryGetRun(0, Filled / 2, out RingRun run);
        return run.Length;
    }

    [Benchmark]
    [TimeBudget(5)]
    public int WalkEntries()
    {
        _ring!.TryGetRun(0, Filled, out RingRun run);
        int bytes = 0;
        foreach (ReadOnlySpan<byte> entry in run)
        {
            bytes += entry.Length;
        }

        return bytes;
    }
}
