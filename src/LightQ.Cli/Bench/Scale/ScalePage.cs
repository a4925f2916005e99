using System.Text;
using LightQ.Cli.Bench.Report;

namespace LightQ.Cli.Bench.Scale;

/// <summary>The dimensions of a scale bench on the report's page.</summary>
internal static class ScalePage
{
    public static void Append(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        page.Append("<h2>What is left with many, of what there is with few</h2>\n");
        page.Append(SvgPlot.Bars("percent", [.. results.Select(r => new PlotSeries(r.Scale!.Dimension, [("few", 100), ("many", Math.Round(100 * r.Ratio, 1))]))]));
        PageTable.Append(page, ScaleTable.Columns, results.Select(ScaleTable.Row));
    }
}
