using System.Globalization;

namespace LightQ.Cli.Bench.Report;

/// <summary>A row of percentiles for each line of a plot.</summary>
internal static class PercentileTable
{
    /// <param name="lines">The lines.</param>
    /// <param name="format">How a value is written.</param>
    public static ReportRows Of(IReadOnlyList<PlotSeries> lines, string format) =>
        new(["through", .. lines[0].Points.Select(p => p.Name)], [.. lines.Select(line => Row(line, format))]);

    private static string[] Row(PlotSeries line, string format) =>
        [line.Name, .. line.Points.Select(p => p.Value.ToString(format, CultureInfo.InvariantCulture))];
}
