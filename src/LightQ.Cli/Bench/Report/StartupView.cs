using System.Globalization;
using System.Text;
using LightQ.Bench.Startup;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench startup</c>.</summary>
internal sealed class StartupView : ScenarioView<StartupResult>
{
    public override string Name => "startup";

    public override IReadOnlyList<string> Notes { get; } =
    [
        ScenarioNotes.Broker,
        "Measured: how long a broker takes from the start of its process until it is ready, after it was "
            + "killed (kill -9) while four of its durable topics were written to, again and again. The yardstick "
            + "\"empty\" is a start on an empty directory, in turns with it.",
        "After each start every topic is looked at: a message that had been acknowledged and is not there "
            + "counts as lost, and the run as failed.",
        "Not shown: a machine that has just started itself, whose page cache is empty.",
    ];

    public override ReportRows Table(IReadOnlyList<StartupResult> results) =>
        new(
            [
                "topics",
                "backlog MiB",
                "ready ms",
                "slowest",
                "yardstick",
                "its ready ms",
                "ratio",
                "MiB when ready",
                "peak MiB",
                "checked",
            ],
            [.. results.Select(Row)]
        );

    /// <summary>A group of bars for each start.</summary>
    public override void AppendFigures(StringBuilder page, IReadOnlyList<StartupResult> results)
    {
        foreach (StartupResult result in results)
        {
            PlotSeries[] starts = [.. result.ReadyRunsMs.Zip(result.YardstickReadyRunsMs).Select(ToBars)];
            page.Append("<h2>From the start of the process until it is ready: ");
            page.Append(CultureInfo.InvariantCulture, $"{result.Topics:N0} topics</h2>\n");
            page.Append(SvgPlot.Bars("milliseconds", starts));
        }
        PageTable.Append(page, Table(results));

        PlotSeries ToBars((double Ready, double Empty) pair, int index) =>
            new(Text($"start {index + 1}"), [("after kill -9", pair.Ready), (results[0].Yardstick, pair.Empty)]);
    }

    private static string[] Row(StartupResult result) =>
        [
            Text($"{result.Topics:N0}"),
            Text($"{result.BacklogBytes / BytesPerMiB:N0}"),
            Text($"{result.ReadyMs:N0}"),
            Text($"{result.ReadyRunsMs.Max():N0}"),
            result.Yardstick,
            Text($"{result.YardstickReadyMs:N0}"),
            Text($"{result.Ratio:F2}"),
            Text($"{result.BrokerReadyRssBytes / BytesPerMiB:F0}"),
            Text($"{result.BrokerPeakRssBytes / BytesPerMiB:F0}"),
            result.IsSound ? "nothing lost" : "FAILED",
        ];
}
