using System.Globalization;
using System.Text;
using LightQ.Bench.Fanout;
using LightQ.Bench.Figures;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench fanout</c>: its runs, with the document's row below.</summary>
internal sealed class FanoutView : ScenarioView<FanoutResult>
{
    private const double MicrosecondsPerMillisecond = 1000;

    public override string Name => "fanout";

    public override IReadOnlyList<string> Notes { get; } =
    [
        ScenarioNotes.Broker,
        "Measured: every message goes to every subscriber, each on a TCP connection of its own, and is "
            + "acknowledged on both legs: by the broker to the publisher, by each subscriber to the broker. The "
            + "run counts only when receipts = published × subscribers. Idle connections are open beside them.",
        ScenarioNotes.Processes,
        "The published row is of another broker on another machine, and counts from its own clients' stamps.",
    ];

    public override ReportRows Table(IReadOnlyList<FanoutResult> results) =>
        new(
            [
                "",
                "publishers",
                "subscribers",
                "size",
                "messages/s",
                "idle",
                "deliveries/s",
                "mean ms",
                "p50",
                "p99",
                "max",
                "lost",
                "settled",
                "CPU",
                "load",
                "MiB",
            ],
            [
                .. results.Select(r => Row("lightq", r.Size, r.Fanout, r.LatencyUs, "")),
                Row("EMQ's document", FanoutSettings.UsualSize, FanoutFigures.Document, null, "<= "),
            ]
        );

    public override void AppendFigures(StringBuilder page, IReadOnlyList<FanoutResult> results)
    {
        page.Append("<h2>Latency by percentile</h2>\n");
        PlotSeries[] lines =
        [
            .. results.Select(r => new PlotSeries(Text($"{r.Fanout.Rate:0.##}/s"), [.. r.LatencyUs.Points()])),
        ];
        page.Append(SvgPlot.Lines("microseconds", lines));
        PageTable.Append(page, Table(results));
        foreach (string failure in Failures(results))
            page.Append(CultureInfo.InvariantCulture, $"<p class=\"bad\">{failure}</p>\n");
    }

    /// <summary>What is missing in the log, or was not settled.</summary>
    public override IEnumerable<string> Failures(IReadOnlyList<FanoutResult> results) =>
        from result in results
        let figures = result.Fanout
        where figures is not { IsSettled: true, LossPercent: 0 }
        select figures.LossPercent != 0
            ? Text($"FAILED at {figures.Rate:0.##} messages/s: the log has {figures.Entries:N0} entries, ")
                + Text($"{figures.LossPercent:0.###} % fewer than deliveries were due. Did another run write to it?")
            : Text($"FAILED at {figures.Rate:0.##} messages/s: {figures.Settled:N0} of ")
                + Text($"{figures.Published * figures.Subscribers:N0} deliveries were settled.");

    private static string[] Row(string name, int size, FanoutFigures figures, LatencyFigures? latency, string bound) =>
        [
            name,
            Text($"{figures.Publishers:N0}"),
            Text($"{figures.Subscribers:N0}"),
            Text($"{size} B"),
            Text($"{figures.Rate:0.##}"),
            Text($"{figures.IdleConnections:N0}"),
            Text($"{figures.DeliveriesPerSecond:N0}"),
            Text($"{figures.MeanUs / MicrosecondsPerMillisecond:N1}"),
            Text($"{latency?.P50 / MicrosecondsPerMillisecond:N1}"),
            Text($"{latency?.P99 / MicrosecondsPerMillisecond:N1}"),
            Text($"{latency?.Max / MicrosecondsPerMillisecond:N1}"),
            Text($"{figures.LossPercent:0.###} %"),
            figures.Settled is null ? ""
            : figures.IsSettled ? "all"
            : Text($"{figures.Settled:N0}"),
            figures.CpuPercent is { } cpu ? bound + Text($"{cpu:N0} %") : "",
            figures.Load is { } load ? bound + Text($"{load:0.##}") : "",
            figures.RssBytes is { } rss ? bound + Text($"{rss / BytesPerMiB:N0}") : "",
        ];
}
