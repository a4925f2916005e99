using System.Globalization;
using System.Text;
using LightQ.Bench.Figures;
using LightQ.Bench.InProcess;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench inprocess</c>.</summary>
internal sealed class InProcessView : ScenarioView<InProcessResult>
{
    private const double NanosecondsPerMicrosecond = 1000;

    public override string Name => "inprocess";

    public override IReadOnlyList<string> Notes { get; } =
    [
        "LightQ's rings and journal are libraries too. Measured: how long a message takes through one of "
            + "them from one pinned thread to another, at a fixed rate, counted from when sending was due.",
        "The yardstick \"line\" hands a single cache line from thread to thread on the same two processors: "
            + "nothing can be faster.",
        "Later than 20 us: the share of messages that took so long, and the line's own when it is sent on "
            + "the same schedule. What is late there is the machine's doing.",
        "Not shown: sockets, a broker, or more than one producer.",
    ];

    /// <summary>
    /// A row for each target, in nanoseconds: the medians of its runs, and of their ratios to the hand-off of a
    /// cache line.
    /// </summary>
    public override ReportRows Table(IReadOnlyList<InProcessResult> results)
    {
        IEnumerable<string> names = results.SelectMany(r => r.LatencyUs.Points()).Select(p => p.Name).Distinct();
        string[] percentiles = [.. names.OrderBy(name => name == "max").Skip(1)];
        return new(
            [
                "target",
                "size",
                "rate",
                "processes",
                .. percentiles.Select(p => $"{p} ns"),
                "> 20 us",
                "line > 20 us",
                "line p50 ns",
                "p50 of line",
                "p99 of line",
                "checked",
            ],
            [.. results.Select(r => Row(r, percentiles))]
        );
    }

    /// <summary>One plot with all targets, beside the median of the yardstick as a level line.</summary>
    public override void AppendFigures(StringBuilder page, IReadOnlyList<InProcessResult> results)
    {
        InProcessResult first = results[0];
        string processes = first.Processes == 1 ? "one process" : "two processes";
        page.Append(
            CultureInfo.InvariantCulture,
            $"<h2>Latency by percentile: {first.Size} B at {first.Rate:N0} messages a second, "
        );
        page.Append(CultureInfo.InvariantCulture, $"{processes}, {first.Pairs} runs of {first.Messages:N0}</h2>\n");
        List<PlotSeries> lines = [.. results.Select(r => new PlotSeries(r.Kind, [.. r.LatencyUs.Points()]))];
        double line = Median.Of(results.Select(r => r.YardstickLatencyUs.P50));
        lines.Add(new PlotSeries(first.Yardstick, [.. lines[0].Points.Select(p => (p.Name, line))]));
        page.Append(SvgPlot.Lines("microseconds", lines));
        ReportRows percentiles = PercentileTable.Of(lines, "N3");
        LatencyFigures onLine = LatencyFigures.MedianOf([.. results.Select(r => r.YardstickLatencyUs)]);
        IEnumerable<double?> shares =
        [
            .. results.Select(r => r.LatencyUs.LaterThan20UsPercent),
            onLine.LaterThan20UsPercent,
        ];
        PageTable.Append(
            page,
            new(
                [.. percentiles.Columns, "later than 20 us"],
                [.. percentiles.Rows.Zip(shares, (row, share) => (string[])[.. row, Text($"{share:F2} %")])]
            )
        );
    }

    private static string[] Row(InProcessResult r, string[] percentiles)
    {
        Dictionary<string, double> points = r.LatencyUs.Points().ToDictionary(p => p.Name, p => p.Value);
        return
        [
            r.Kind,
            Text($"{r.Size} B"),
            Text($"{r.Rate:N0}/s"),
            Text($"{r.Processes}"),
            .. percentiles.Select(p =>
                points.TryGetValue(p, out double us) ? Text($"{us * NanosecondsPerMicrosecond:N0}") : ""
            ),
            Text($"{r.LatencyUs.LaterThan20UsPercent:F2} %"),
            Text($"{r.YardstickLatencyUs.LaterThan20UsPercent:F2} %"),
            Text($"{r.YardstickLatencyUs.P50 * NanosecondsPerMicrosecond:N0}"),
            Text($"{r.Ratio:F2}"),
            Text($"{r.RatioP99:F2}"),
            r.IsSound ? "all, in order" : "FAILED",
        ];
    }
}
