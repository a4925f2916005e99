namespace LightQ.Bench.Settle;

/// <summary>
/// How many messages a second were settled in one way; the way is the result's <see cref="BenchResult.Api"/>.
/// </summary>
internal sealed record SettleResult : RateResult
{
    /// <summary>The yardstick's messages a second of each run.</summary>
    public required IReadOnlyList<double> YardstickRuns { get; init; }
}
