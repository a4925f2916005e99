using System.Globalization;
using System.Text;
using LightQ.Bench;

namespace LightQ.Cli.Bench.Report;

/// <summary>How messages a second are shown.</summary>
internal abstract class RateView<TResult> : ScenarioView<TResult>
    where TResult : RateResult
{
    /// <summary>A row for each size; the yardsticks stand beside the product.</summary>
    public override ReportRows Table(IReadOnlyList<TResult> results) =>
        new(
            [
                "size",
                "kind",
                "ack",
                "api",
                "messages/s",
                "MiB/s",
                .. Yardsticks.Of(results).SelectMany(y => new[] { $"{y} messages/s", $"of {y}" }),
                "broker CPU s",
                "peak MiB",
            ],
            [.. Yardsticks.Beside(results).Select(Row)]
        );

    /// <summary>A chart for each kind of topic, a group of bars for each size.</summary>
    protected static void AppendBySize(StringBuilder page, IReadOnlyList<TResult> results)
    {
        foreach (IGrouping<string, TResult> kind in results.GroupBy(r => r.Kind))
        {
            page.Append(CultureInfo.InvariantCulture, $"<h2>Throughput by size: {kind.Key} topic</h2>\n");
            PlotSeries[] sizes = [.. kind.GroupBy(r => r.Size).Select(g => ToBars(Text($"{g.Key} B"), [.. g]))];
            page.Append(SvgPlot.Bars("messages a second", sizes));
        }
    }

    protected static PlotSeries ToBars(string name, IReadOnlyList<TResult> beside) =>
        new(
            name,
            [
                ("lightq", beside[0].MessagesPerSecond),
                .. beside.Select(r => (r.Yardstick, r.YardstickMessagesPerSecond)),
            ]
        );

    /// <summary>The page's table: a row for each result.</summary>
    protected static ReportRows PageRows(
        string first,
        string second,
        IReadOnlyList<TResult> results,
        Func<TResult, (string First, string Second)> names
    ) =>
        new(
            [
                first,
                second,
                "topic",
                "acknowledged",
                "messages",
                "messages/s",
                "MiB/s",
                "yardstick",
                "its messages/s",
                "ratio",
            ],
            [.. results.Select(r => PageRow(r, names(r)))]
        );

    private static string[] PageRow(TResult r, (string First, string Second) names) =>
        [
            names.First,
            names.Second,
            r.Kind,
            r.Ack,
            Text($"{r.Messages:N0}"),
            Text($"{r.MessagesPerSecond:N0}"),
            Text($"{r.MessagesPerSecond * r.Size / BytesPerMiB:N0}"),
            r.Yardstick,
            Text($"{r.YardstickMessagesPerSecond:N0}"),
            Text($"{r.Ratio:F2}"),
        ];

    private static string[] Row(TResult[] beside)
    {
        TResult r = beside[0];
        return
        [
            Text($"{r.Size} B"),
            r.Kind,
            r.Ack,
            r.Api,
            Text($"{r.MessagesPerSecond:N0}"),
            Text($"{r.MessagesPerSecond * r.Size / BytesPerMiB:N0}"),
            .. beside.SelectMany(b => new[] { Text($"{b.YardstickMessagesPerSecond:N0}"), Text($"{b.Ratio:F2}") }),
            Text($"{r.BrokerCpuSeconds:F2}"),
            Text($"{r.BrokerPeakRssBytes / BytesPerMiB:F0}"),
        ];
    }
}
