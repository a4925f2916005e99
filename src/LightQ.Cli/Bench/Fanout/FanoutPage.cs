using System.Globalization;
using System.Text;
using LightQ.Cli.Bench.Report;

namespace LightQ.Cli.Bench.Fanout;

/// <summary>The runs of a fan-out on the report's page.</summary>
internal static class FanoutPage
{
    public static void Append(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        page.Append("<h2>Latency by percentile</h2>\n");
        page.Append(SvgPlot.Lines("microseconds", [.. results.Select(r => new PlotSeries(string.Create(CultureInfo.InvariantCulture, $"{r.Fanout!.Rate:0.##}/s"), [.. r.LatencyUs!.Points()]))]));
        PageTable.Append(page, FanoutTable.Columns, FanoutTable.Rows(results));
        foreach (string failure in FanoutTable.Failures(results))
            page.Append(CultureInfo.InvariantCulture, $"<p class=\"bad\">{failure}</p>\n");
    }
}
