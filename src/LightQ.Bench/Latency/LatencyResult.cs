using LightQ.Bench.Figures;

namespace LightQ.Bench.Latency;

/// <summary>How long messages took at a rate, beside one yardstick; the ratio is that of the medians.</summary>
internal sealed record LatencyResult : RateResult
{
    /// <summary>The ratio of the 99th percentiles.</summary>
    public double RatioP99 { get; init; }

    /// <summary>Messages a second that were asked for.</summary>
    public double Rate { get; init; }

    public required LatencyFigures LatencyUs { get; init; }

    public required LatencyFigures YardstickLatencyUs { get; init; }
}
