using BenchmarkDotNet.Attributes;

namespace LightQ.Benchmarks.Storage;

/// <summary>Batches of one message of 512 bytes.</summary>
public class SmallAppendBenchmarks() : JournalBenchmarks(512)
{
    [Benchmark(OperationsPerInvoke = Batches)]
    [TimeBudget(15)]
    public long Append512B() => AppendUntilDurable();
}
