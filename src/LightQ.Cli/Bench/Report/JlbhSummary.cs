using System.Globalization;
using LightQ.Bench.Figures;

namespace LightQ.Cli.Bench.Report;

/// <summary>
/// Runs in the layout of the reference document, which is what Chronicle's Java Latency Benchmark Harness prints.
/// </summary>
/// <remarks>
/// Layout and formula are those of <c>printPercentilesSummary</c> in <c>net.openhft.chronicle.core.jlbh.JLBH</c>
/// (github.com/OpenHFT/JLBH, and Chronicle-Core of 2018, which the document was made with). Two things differ: the
/// values are exact to a thousandth where JLBH gives the middle of a bucket, and a row that a run is too short for is
/// left out.
/// </remarks>
internal static class JlbhSummary
{
    private const string Title =
        "-------------------------------- SUMMARY (end to "
        + "end)------------------------------------------------------------";
    private const string Rule =
        "-------------------------------------------------------------------------------------------------------------------";

    /// <summary>The table of some runs.</summary>
    public static IEnumerable<string> Of(IReadOnlyList<LatencyFigures> runs)
    {
        var rows = new List<(string, IReadOnlyList<double>)>
        {
            ("50", [.. runs.Select(r => r.P50)]),
            ("90", [.. runs.Select(r => r.P90)]),
            ("99", [.. runs.Select(r => r.P99)]),
            ("99.9", [.. runs.Select(r => r.P999)]),
            ("99.99", [.. runs.Select(r => r.P9999)]),
        };
        if (runs.All(r => r.P99999 is not null))
            rows.Add(("99.999", [.. runs.Select(r => r.P99999!.Value)]));
        rows.Add(("worst", [.. runs.Select(r => r.Max)]));
        return Of(rows);
    }

    /// <summary>The table of some rows: a percentile's name and its microseconds in each run.</summary>
    public static IEnumerable<string> Of(IReadOnlyList<(string Name, IReadOnlyList<double> Values)> rows)
    {
        yield return Title;
        yield return $"Percentile   "
            + $"{string.Join("         ", rows[0].Values.Select((_, run) => Text($"run{run + 1}")))}      % Variation";
        foreach ((string name, IReadOnlyList<double> values) in rows)
        {
            string runs = string.Concat(values.Select(v => Text($"{v, 12:F2} ")));
            yield return $"{name + ":", -8}{runs}{Text($"{VariationOf(values), 12:F2}")}";
        }

        yield return Rule;
    }

    /// <summary>
    /// JLBH's "% Variation": the spread of all runs but the first, 100 * (max - min) / (max + min / 2). One run has
    /// none.
    /// </summary>
    public static double VariationOf(IReadOnlyList<double> runs)
    {
        double[] counted = [.. runs.Skip(1)];
        return counted.Length == 0 ? 0 : 100 * (counted.Max() - counted.Min()) / (counted.Max() + (counted.Min() / 2));
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
