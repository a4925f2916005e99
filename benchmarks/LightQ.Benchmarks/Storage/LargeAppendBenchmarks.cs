using BenchmarkDotNet.Attributes;

namespace LightQ.Benchmarks.Storage;

/// <summary>
/// Batches of 64 KiB. A thousand of them fill a segment, and a new segment allocates its index and its descriptor.
/// </summary>
public class LargeAppendBenchmarks() : JournalBenchmarks(64 * 1024)
{
    [Benchmark(OperationsPerInvoke = Batches)]
    [BenchmarkCategory("allocates")]
    [TimeBudget(4)]
    public long Append64KiB() => AppendUntilDurable();
}
