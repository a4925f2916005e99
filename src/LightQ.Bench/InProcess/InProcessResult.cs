using LightQ.Bench.Figures;

namespace LightQ.Bench.InProcess;

/// <summary>
/// How long a message took through one target, beside the hand-off of a cache line; the ratio is the median of the
/// runs' own.
/// </summary>
internal sealed record InProcessResult : BenchResult
{
    /// <summary>The 99th percentile divided by the line's median: the median of the runs' ratios.</summary>
    public double RatioP99 { get; init; }

    /// <summary>Messages a second that were asked for.</summary>
    public double Rate { get; init; }

    public required LatencyFigures LatencyUs { get; init; }

    public required LatencyFigures YardstickLatencyUs { get; init; }

    /// <summary>The latency of each run.</summary>
    public required IReadOnlyList<LatencyFigures> LatencyRunsUs { get; init; }

    /// <summary>That of the yardstick before and behind each run.</summary>
    public required IReadOnlyList<LatencyFigures> YardstickLatencyRunsUs { get; init; }

    /// <summary>1 or 2.</summary>
    public int Processes { get; init; }
}
