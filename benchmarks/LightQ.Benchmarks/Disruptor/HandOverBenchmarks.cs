using BenchmarkDotNet.Attributes;
using LightQ.Disruptor;

namespace LightQ.Benchmarks.Disruptor;

/// <summary>
/// A 29-byte payload to another thread and back, two busy-spinning threads, against the bare cache line.
/// </summary>
/// <remarks>Half of a round trip is one hand-over. Needs two idle cores.</remarks>
[MemoryDiagnoser]
[BenchmarkCategory("ring")]
public class HandOverBenchmarks
{
    private const int Trips = 10_000;
    private readonly byte[] _payload = new byte[29];
    private readonly Sequence _ping = new();
    private readonly Sequence _pong = new();
    private RingMemory[] _memories = [];
    private ByteRing? _there;
    private ByteRing? _back;
    private Thread? _echo;
    private volatile bool _stop;
    private long _position;
    private long _count;

    [GlobalSetup(Target = nameof(Line))]
    public void SetupLine() => StartEcho(EchoLine);

    [GlobalSetup(Targets = [nameof(RingSingle)])]
    public void SetupSingle() => SetupRings(RingProducers.Single);

    [GlobalSetup(Targets = [nameof(RingMultiple)])]
    public void SetupMultiple() => SetupRings(RingProducers.Multiple);

    [GlobalCleanup]
    public void Cleanup()
    {
        _stop = true;
        _echo!.Join();
        Array.ForEach(_memories, memory => memory.Dispose());
    }

    /// <summary>The yardstick: one word there, one word back.</summary>
    [Benchmark(Baseline = true, OperationsPerInvoke = Trips)]
    public void Line()
    {
        for (int i = 0; i < Trips; i++)
        {
            _ping.Value = ++_count;
            while (_pong.Value != _count) { }
        }
    }

    [Benchmark(OperationsPerInvoke = Trips)]
    [TimeBudget(4)]
    public void RingSingle() => RoundTrips();

    [Benchmark(OperationsPerInvoke = Trips)]
    [TimeBudget(5)]
    public void RingMultiple() => RoundTrips();

    private void RoundTrips()
    {
        for (int i = 0; i < Trips; i++)
        {
            _there!.TryPublishPayload(_payload);
            RingRun run;
            while (!_back!.TryGetRun(_position, 64 * 1024, out run))
            {
                _position = run.NextPosition;
            }

            _position = run.NextPosition;
        }
    }

    private void SetupRings(RingProducers producers)
    {
        _memories = [RingMemory.Native(64 * 1024), RingMemory.Native(64 * 1024)];
        _there = new ByteRing(_memories[0], 1024, producers);
        _back = new ByteRing(_memories[1], 1024, producers);
        StartEcho(EchoRing);
    }

    private void StartEcho(ThreadStart echo)
    {
        _echo = new Thread(echo) { IsBackground = true };
        _echo.Start();
    }

    private void EchoLine()
    {
        while (!_stop)
        {
            _pong.Value = _ping.Value;
        }
    }

    private void EchoRing()
    {
        long position = 0;
        while (!_stop)
        {
            if (_there!.TryGetRun(position, 64 * 1024, out RingRun run))
            {
                _back!.TryPublishPayload(PayloadEntry.Payload(run.Span));
            }

            position = run.NextPosition;
        }
    }
}
