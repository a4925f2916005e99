using System.Globalization;
using System.Text;

namespace LightQ.Cli.Bench.Report;

/// <summary>The starts of a startup bench on the report's page.</summary>
internal static class StartupPage
{
    public static void Append(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        foreach (BenchResult result in results)
        {
            page.Append(CultureInfo.InvariantCulture, $"<h2>From the start of the process until it is ready: {result.Topics:N0} topics</h2>\n");
            page.Append(SvgPlot.Bars("milliseconds", [.. result.ReadyRunsMs!.Zip(result.YardstickReadyRunsMs!, (ready, empty) => (ready, empty)).Select(ToBars)]));
        }
        PageTable.Append(page, StartupTable.Columns, results.Select(StartupTable.Row));

        PlotSeries ToBars((double Ready, double Empty) pair, int index) => new(
            string.Create(CultureInfo.InvariantCulture, $"start {index + 1}"), [("after kill -9", pair.Ready), (results[0].Yardstick, pair.Empty)]);
    }
}
