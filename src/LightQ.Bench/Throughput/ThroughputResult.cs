namespace LightQ.Bench.Throughput;

/// <summary>How many messages a second went through, or a consumer caught up with, beside one yardstick.</summary>
internal sealed record ThroughputResult : RateResult
{
    /// <summary>The yardstick's messages a second of each run.</summary>
    public required IReadOnlyList<double> YardstickRuns { get; init; }
}
