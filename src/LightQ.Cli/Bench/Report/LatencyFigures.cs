using System.Text.Json.Serialization;

namespace LightQ.Cli.Bench.Report;

/// <summary>A latency distribution in microseconds.</summary>
internal sealed record LatencyFigures
{
    private const double NanosecondsPerMicrosecond = 1000;
    private const long EnoughForFiveNines = 1_000_000;

    public double Min { get; init; }

    public double P50 { get; init; }

    public double P90 { get; init; }

    public double P99 { get; init; }

    [JsonPropertyName("p99.9")]
    public double P999 { get; init; }

    [JsonPropertyName("p99.99")]
    public double P9999 { get; init; }

    /// <summary>Only of runs that are long enough for it.</summary>
    [JsonPropertyName("p99.999")]
    public double? P99999 { get; init; }

    public double Max { get; init; }

    /// <summary>Reads them from a histogram of nanoseconds.</summary>
    /// <param name="histogram">The values.</param>
    /// <param name="toFiveNines">Whether a histogram of a million values or more has its 99.999th percentile, too.</param>
    public static LatencyFigures Of(LatencyHistogram histogram, bool toFiveNines = false) => new()
    {
        Min = histogram.Min / NanosecondsPerMicrosecond,
        P50 = histogram.Percentile(50) / NanosecondsPerMicrosecond,
        P90 = histogram.Percentile(90) / NanosecondsPerMicrosecond,
        P99 = histogram.Percentile(99) / NanosecondsPerMicrosecond,
        P999 = histogram.Percentile(99.9) / NanosecondsPerMicrosecond,
        P9999 = histogram.Percentile(99.99) / NanosecondsPerMicrosecond,
        P99999 = toFiveNines && histogram.Count >= EnoughForFiveNines ? histogram.Percentile(99.999) / NanosecondsPerMicrosecond : null,
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
        P99999 = runs.All(r => r.P99999 is not null) ? Median.Of(runs.Select(r => r.P99999!.Value)) : null,
        Max = runs.Max(r => r.Max),
    };

    /// <summary>The percentiles in order, with their names.</summary>
    public IEnumerable<(string Name, double Value)> Points() =>
    [
        ("min", Min), ("p50", P50), ("p90", P90), ("p99", P99), ("p99.9", P999), ("p99.99", P9999),
        .. P99999 is { } p99999 ? [("p99.999", p99999)] : Array.Empty<(string, double)>(),
        ("max", Max),
    ];
}
