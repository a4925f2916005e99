using System.Globalization;
using System.Text;
using LightQ.Bench.Figures;
using LightQ.Bench.Latency;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench latency</c>.</summary>
internal sealed class LatencyView : ScenarioView<LatencyResult>
{
    public override string Name => "latency";

    public override IReadOnlyList<string> Notes { get; } =
    [
        ScenarioNotes.Broker,
        "Measured: how long a message takes from publish to receipt on another connection, at a fixed rate. "
            + "It counts from when sending was due, so that a stall counts too, unless a remark below says "
            + "otherwise.",
        ScenarioNotes.Processes,
        ScenarioNotes.Relay,
        ScenarioNotes.Checked,
        ScenarioNotes.OneMachine,
    ];

    /// <summary>A row for the product with its ratios to every yardstick, and one for each yardstick.</summary>
    public override ReportRows Table(IReadOnlyList<LatencyResult> results)
    {
        string[] yardsticks = Yardsticks.Of(results);
        return new(
            [
                "size",
                "kind",
                "ack",
                "rate",
                "through",
                "p50 us",
                "p90",
                "p99",
                "p99.9",
                "p99.99",
                "max",
                .. yardsticks.SelectMany(y => new[] { $"p50 of {y}", $"p99 of {y}" }),
            ],
            [.. Yardsticks.Beside(results).SelectMany(beside => Rows(beside, yardsticks.Length))]
        );
    }

    public override void AppendFigures(StringBuilder page, IReadOnlyList<LatencyResult> results)
    {
        foreach (IGrouping<int, LatencyResult> group in results.GroupBy(r => r.Size))
        {
            LatencyResult first = group.First();
            page.Append(
                CultureInfo.InvariantCulture,
                $"<h2>Latency by percentile: {first.Size} B at {first.Rate:N0} messages a second, "
            );
            page.Append(CultureInfo.InvariantCulture, $"{first.Kind}, ack {first.Ack}</h2>\n");
            PlotSeries[] lines =
            [
                new("lightq", [.. first.LatencyUs.Points()]),
                .. group.Select(r => new PlotSeries(r.Yardstick, [.. r.YardstickLatencyUs.Points()])),
            ];
            page.Append(SvgPlot.Lines("microseconds", lines));
            PageTable.Append(page, PercentileTable.Of(lines, "N1"));
        }
    }

    private static IEnumerable<string[]> Rows(LatencyResult[] beside, int yardsticks)
    {
        LatencyResult r = beside[0];
        string[] start = [Text($"{r.Size} B"), r.Kind, r.Ack, Text($"{r.Rate:N0}/s")];
        IEnumerable<string> ratios = beside.SelectMany(b => new[] { Text($"{b.Ratio:F2}"), Text($"{b.RatioP99:F2}") });
        yield return [.. start, "lightq", .. Cells(r.LatencyUs), .. ratios];
        foreach (LatencyResult other in beside)
        {
            string[] cells = [.. start, other.Yardstick, .. Cells(other.YardstickLatencyUs)];
            yield return [.. cells, .. Enumerable.Repeat("", 2 * yardsticks)];
        }
    }

    private static IEnumerable<string> Cells(LatencyFigures figures) =>
        figures.Points().Skip(1).Select(p => Text($"{p.Value:N1}"));
}
