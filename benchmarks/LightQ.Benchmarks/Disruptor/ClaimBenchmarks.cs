using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;
using LightQ.Disruptor;

namespace LightQ.Benchmarks.Disruptor;

/// <summary>What one entry costs its producer, and producer and consumer together, on one thread.</summary>
[MemoryDiagnoser]
[BenchmarkCategory("ring")]
public class ClaimBenchmarks
{
    private const int Entries = 1000;
    private const int EntryBytes = 40;
    private const int PlainBytes = 1 << 16;
    private readonly byte[] _plain = new byte[PlainBytes + EntryBytes];
    private readonly Sequence _gate = new();
    private readonly byte[] _payload = new byte[29];
    private RingMemory? _memory;
    private ByteRing? _ring;

    [Params(RingProducers.Single, RingProducers.Multiple)]
    public RingProducers Producers { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _memory = RingMemory.Native(1 << 20);
        _ring = new ByteRing(_memory, 64 * 1024, Producers);
    }

    [GlobalSetup(Target = nameof(ClaimPublishConsume))]
    public void SetupWithGate()
    {
        Setup();
        _ring!.AddGate(_gate, 0);
    }

    [GlobalCleanup]
    public void Cleanup() => _memory!.Dispose();

    /// <summary>
    /// What no ring can do without: copy an entry, and say so; with several producers also take its place and mark it
    /// done.
    /// </summary>
    [Benchmark(Baseline = true, OperationsPerInvoke = Entries)]
    public long CopyAndTell()
    {
        long end = 0,
            marks = 0;
        for (int i = 0; i < Entries; i++)
        {
            _payload.CopyTo(_plain.AsSpan((int)(end & (PlainBytes - 1))));
            if (Producers == RingProducers.Multiple)
            {
                Interlocked.CompareExchange(ref end, end + EntryBytes, end);
                Interlocked.Or(ref marks, 1L << (i & 63));
            }
            else
            {
                Volatile.Write(ref end, end + EntryBytes);
            }
        }

        return end + marks;
    }

    [Benchmark(OperationsPerInvoke = Entries)]
    [TimeBudget(4)]
    public void ClaimPublish()
    {
        ByteRing ring = _ring!;
        for (int i = 0; i < Entries; i++)
        {
            ring.TryClaim(EntryBytes, out RingClaim claim);
            MemoryMarshal.Write(claim.Span[8..], i);
            ring.Publish(claim);
        }
    }

    [Benchmark(OperationsPerInvoke = Entries)]
    [TimeBudget(5)]
    public void PublishPayload()
    {
        ByteRing ring = _ring!;
        for (int i = 0; i < Entries; i++)
        {
            ring.TryPublishPayload(_payload);
        }
    }

    [Benchmark(OperationsPerInvoke = Entries)]
    [TimeBudget(8)]
    public long ClaimPublishConsume()
    {
        ByteRing ring = _ring!;
        long position = _gate.Value;
        long sum = 0;
        for (int i = 0; i < Entries; i++)
        {
            ring.TryClaim(EntryBytes, out RingClaim claim);
            MemoryMarshal.Write(claim.Span[8..], i);
            ring.Publish(claim);
            if (ring.TryGetRun(position, 256 * 1024, out RingRun run))
            {
                sum += MemoryMarshal.Read<int>(run.Span[8..]);
            }

            position = run.NextPosition;
            _gate.Value = position;
        }

        return sum;
    }
}
