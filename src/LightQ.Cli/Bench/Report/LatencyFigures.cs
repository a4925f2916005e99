using System.Text.Json.Serialization;

namespace LightQ.Cli.Bench.Report;

/// <summary>A latency distribution in microseconds.</summary>
internal sealed record LatencyFigures
{
    private const double NanosecondsPerMicrosecond = 1000;

    public double Min { get; init; }

    public double P50 { get; init; }

    public double P90 { get; init; }

    public double P99 { get; init; }

    [JsonPropertyName("p99.9")]
    public double P999 { get; init; }

    [JsonPropertyName("p99.99")]
    public double P9999 { get; init; }

    public double Max { get; init; }

    /// <summary>Reads them from a histogram of nanoseconds.</summary>
    public static LatencyFigures Of(LatencyHistogram histogram) => new()
    {
        Min = histogram.Min / NanosecondsPerMicrosecond,
        P50 = histogram.Percentile(50) / NanosecondsPerMicrosecond,
        P90 = histogram.Percentile(90) / NanosecondsPerMicrosecond,
        P99 = histogram.Percentile(99) / NanosecondsPerMicrosecond,
        P999 = histogram.Percentile(99.9) / NanosecondsPerMicrosecond,
        P9999 = histogram.Percentile(99.99) / NanosecondsPerMicrosecond,
        Max = histogram.Max / NanosecondsPerMicrosecond,
    };

    /// <summary>The median run, figure by figure; the extremes are those of all runs.</summary>
    public static LatencyFigures MedianOf(IReadOnlyList<LatencyFigures> runs) => new()
    {
        Min = runs.Min(r => r.Min),
        P50 = Median.Of(runs.Select(r => r.P50)),
        P90 = Median.Of(runs.Select(r => r.P90)),
        P99 = Median.Of(runs.Select(r => r.P99)),
        P999 = Median.Of(runs.Select(r => r.P999)),
        P9999 = Median.Of(runs.Select(r => r.P9999)),
        Max = runs.Max(r => r.Max),
    };

    /// <summary>The percentiles in order, with their names.</summary>
    public IEnumerable<(string Name, double Value)> Points() =>
        [("min", Min), ("p50", P50), ("p90", P90), ("p99", P99), ("p99.9", P999), ("p99.99", P9999), ("max", Max)];
}
