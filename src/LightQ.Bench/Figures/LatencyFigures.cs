using System.Text.Json.Serialization;

namespace LightQ.Bench.Figures;

/// <summary>A latency distribution in microseconds.</summary>
internal sealed record LatencyFigures
{
    private const double NanosecondsPerMicrosecond = 1000;
    private const long EnoughForFiveNines = 1_000_000;
    private const long LateNanoseconds = 20_000;

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

    /// <summary>
    /// How many of all, in percent, took 20 us or longer; of hand-overs in process only. Where the host stops a
    /// processor now and then, all percentiles behind that share say how long it does; the share itself is what
    /// programs can be compared by.
    /// </summary>
    [JsonPropertyName("later_than_20_us_percent")]
    public double? LaterThan20UsPercent { get; init; }

    /// <summary>Reads them from a histogram of nanoseconds.</summary>
    /// <param name="histogram">The values.</param>
    public static LatencyFigures Of(LatencyHistogram histogram) =>
        new()
        {
            Min = histogram.Min / NanosecondsPerMicrosecond,
            P50 = histogram.Percentile(50) / NanosecondsPerMicrosecond,
            P90 = histogram.Percentile(90) / NanosecondsPerMicrosecond,
            P99 = histogram.Percentile(99) / NanosecondsPerMicrosecond,
            P999 = histogram.Percentile(99.9) / NanosecondsPerMicrosecond,
            P9999 = histogram.Percentile(99.99) / NanosecondsPerMicrosecond,
            Max = histogram.Max / NanosecondsPerMicrosecond,
        };

    /// <summary>
    /// The same of hand-overs in process, with the share of late ones, and of a million or more with the 99.999th
    /// percentile.
    /// </summary>
    public static LatencyFigures OfHandOvers(LatencyHistogram histogram) =>
        Of(histogram) with
        {
            P99999 =
                histogram.Count >= EnoughForFiveNines ? histogram.Percentile(99.999) / NanosecondsPerMicrosecond : null,
            LaterThan20UsPercent = Math.Round(
                100.0 * histogram.CountFrom(LateNanoseconds) / Math.Max(1, histogram.Count),
                4
            ),
        };

    /// <summary>The median run, figure by figure; the extremes are those of all runs.</summary>
    public static LatencyFigures MedianOf(IReadOnlyList<LatencyFigures> runs) =>
        new()
        {
            Min = runs.Min(r => r.Min),
            P50 = Median.Of(runs.Select(r => r.P50)),
            P90 = Median.Of(runs.Select(r => r.P90)),
            P99 = Median.Of(runs.Select(r => r.P99)),
            P999 = Median.Of(runs.Select(r => r.P999)),
            P9999 = Median.Of(runs.Select(r => r.P9999)),
            P99999 = runs.All(r => r.P99999 is not null) ? Median.Of(runs.Select(r => r.P99999!.Value)) : null,
            Max = runs.Max(r => r.Max),
            LaterThan20UsPercent = runs.All(r => r.LaterThan20UsPercent is not null)
                ? Median.Of(runs.Select(r => r.LaterThan20UsPercent!.Value))
                : null,
        };

    /// <summary>The percentiles in order, with their names.</summary>
    public IEnumerable<(string Name, double Value)> Points() =>
        [
            ("min", Min),
            ("p50", P50),
            ("p90", P90),
            ("p99", P99),
            ("p99.9", P999),
            ("p99.99", P9999),
            .. P99999 is { } p99999 ? [("p99.999", p99999)] : Array.Empty<(string, double)>(),
            ("max", Max),
        ];
}
