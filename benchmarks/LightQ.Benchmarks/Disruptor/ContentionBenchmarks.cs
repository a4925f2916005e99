using BenchmarkDotNet.Attributes;
using LightQ.Disruptor;

namespace LightQ.Benchmarks.Disruptor;

/// <summary>
/// What an entry costs when two threads produce at once: lock-free claims against one producer's ring under a lock.
/// </summary>
[MemoryDiagnoser]
[BenchmarkCategory("ring")]
public class ContentionBenchmarks
{
    private const int Entries = 100_000;
    private readonly Lock _lock = new();
    private readonly Sequence _round = new();
    private readonly Sequence _otherDone = new();
    private RingMemory? _memory;
    private ByteRing? _ring;
    private Thread? _other;
    private volatile bool _stop;

    [Params(RingProducers.Single, RingProducers.Multiple)]
    public RingProducers Producers { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _memory = RingMemory.Native(1 << 20);
        _ring = new ByteRing(_memory, 1024, Producers);
        _other = new Thread(Other) { IsBackground = true };
        _other.Start();
    }

    [GlobalCleanup]
    public void Cleanup()
    {
        _stop = true;
        _other!.Join();
        _memory!.Dispose();
    }

    [Benchmark(OperationsPerInvoke = 2 * Entries)]
    public void TwoProducers()
    {
        long round = _round.Value + 1;
        _round.Value = round;
        Produce();
        while (_otherDone.Value != round) { }
    }

    private void Other()
    {
        while (!_stop)
        {
            long round = _round.Value;
            if (round != _otherDone.Value)
            {
                Produce();
                _otherDone.Value = round;
            }
        }
    }

    private void Produce()
    {
        for (int i = 0; i < Entries; i++)
        {
            if (Producers == RingProducers.Multiple)
            {
                PublishOne();
            }
            else
            {
                lock (_lock)
                {
                    PublishOne();
                }
            }
        }
    }

    private void PublishOne()
    {
        if (_ring!.TryClaim(40, out RingClaim claim) == ClaimResult.Claimed)
        {
            _ring.Publish(claim);
        }
    }
}
