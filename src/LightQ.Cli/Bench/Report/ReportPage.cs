using System.Globalization;
using System.Net;
using System.Text;
using LightQ.Cli.Bench.Fanout;
using LightQ.Cli.Bench.Reference;
using LightQ.Cli.Bench.Scale;

namespace LightQ.Cli.Bench.Report;

/// <summary>A report as one page that needs nothing else: style, plots and figures are inside.</summary>
internal static class ReportPage
{
    private const double BytesPerMiB = 1024 * 1024;

    private const string Style = """
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
        table { display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
        th, td { padding: .25rem .6rem; white-space: nowrap; border-bottom: 1px solid #d0d7de; text-align: right } th { font-weight: 600 }
        svg { max-width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: currentColor }
        .remark { border-left: 3px solid #d97706; padding-left: .75rem } .bad { color: #b3261e; font-weight: 600 } .dim { color: #59636e }
        @media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } th, td { border-color: #30363d } .dim { color: #9198a1 } .bad { color: #ff8a80 } }
        """;

    public static string Create(BenchReport report)
    {
        var page = new StringBuilder();
        BenchMachine machine = report.Machine;
        page.Append(CultureInfo.InvariantCulture, $"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>LightQ {Escape(report.Scenario)}</title>\n<style>\n{Style}\n</style>\n");
        page.Append(CultureInfo.InvariantCulture, $"<h1>LightQ: {Escape(report.Scenario)}</h1>\n");
        page.Append(
            CultureInfo.InvariantCulture,
            $"<p class=\"dim\">{Escape(machine.Cpu)}, {machine.Cores} cores, {machine.MemoryBytes / BytesPerMiB / 1024:F0} GiB, {Escape(machine.Runtime)}, GC {Escape(machine.Gc)}; LightQ {Escape(typeof(ReportPage).Assembly.GetName().Version!.ToString(3))}, {DateTimeOffset.UtcNow:yyyy-MM-dd HH:mm} UTC.</p>\n");
        foreach (string note in ScenarioNotes.Of(report.Scenario))
            page.Append(CultureInfo.InvariantCulture, $"<p>{Escape(note)}</p>\n");
        foreach (string remark in report.Remarks)
            page.Append(CultureInfo.InvariantCulture, $"<p class=\"remark\">{Escape(remark)}</p>\n");
        AppendFigures(page, report);
        foreach (BenchResult r in report.Results.Where(r => r.Faults > 0))
        {
            page.Append(
                CultureInfo.InvariantCulture,
                $"<p class=\"bad\">At {r.Size} B: {r.Lost} lost, {r.Duplicated} duplicated, {r.Reordered} reordered, {r.Damaged} damaged.</p>\n");
        }
        return page.Append("</html>\n").ToString();
    }

    private static void AppendFigures(StringBuilder page, BenchReport report)
    {
        switch (report.Scenario)
        {
            case "throughput" or "catch-up":
                AppendThroughput(page, report.Results);
                PageTable.Append(page, RateColumns("size", "api"), report.Results.Select(r => RateRow(r, Text($"{r.Size} B"), r.Api)));
                break;
            case "reference":
                AppendThroughput(page, report.Results);
                PageTable.Append(page, ReferenceTable.Columns(report.Results), ReferenceTable.Rows(report.Results));
                break;
            case "settle":
                AppendSettlement(page, report.Results);
                break;
            case "latency":
                AppendLatency(page, report.Results);
                break;
            case "inprocess":
                AppendInProcess(page, report.Results);
                break;
            case "fanout":
                FanoutPage.Append(page, report.Results);
                break;
            case "scale":
                ScalePage.Append(page, report.Results);
                break;
            case "startup":
                StartupPage.Append(page, report.Results);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(report), report.Scenario, "There is no page for this scenario.");
        }
    }

    private static void AppendThroughput(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        foreach (IGrouping<string, BenchResult> kind in results.GroupBy(r => r.Kind))
        {
            page.Append(CultureInfo.InvariantCulture, $"<h2>Throughput by size: {kind.Key} topic</h2>\n");
            page.Append(SvgPlot.Bars("messages a second", [.. kind.GroupBy(r => r.Size).Select(g => ToBars(Text($"{g.Key} B"), [.. g]))]));
        }
    }

    /// <summary>A group of bars for each way to settle.</summary>
    private static void AppendSettlement(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        page.Append(CultureInfo.InvariantCulture, $"<h2>Settled messages, {results[0].Size} B</h2>\n");
        page.Append(SvgPlot.Bars("messages a second", [.. results.Select(r => ToBars(r.Api, [r]))]));
        PageTable.Append(page, RateColumns("settled", "size"), results.Select(r => RateRow(r, r.Api, Text($"{r.Size} B"))));
    }

    private static string[] RateColumns(string first, string second) =>
        [first, second, "topic", "acknowledged", "messages", "messages/s", "MiB/s", "yardstick", "its messages/s", "ratio"];

    private static string[] RateRow(BenchResult r, string first, string second) =>
    [
        first,
        second,
        r.Kind,
        r.Ack,
        Text($"{r.Messages:N0}"),
        Text($"{r.MessagesPerSecond:N0}"),
        Text($"{r.MessagesPerSecond * r.Size / BytesPerMiB:N0}"),
        r.Yardstick,
        Text($"{r.YardstickMessagesPerSecond:N0}"),
        Text($"{r.Ratio:F2}"),
    ];

    private static void AppendLatency(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        foreach (IGrouping<int, BenchResult> group in results.GroupBy(r => r.Size))
        {
            BenchResult first = group.First();
            page.Append(CultureInfo.InvariantCulture, $"<h2>Latency by percentile: {first.Size} B at {first.Rate:N0} messages a second, {first.Kind}, ack {first.Ack}</h2>\n");
            List<PlotSeries> series = [new("lightq", [.. first.LatencyUs!.Points()])];
            series.AddRange(group.Select(r => new PlotSeries(r.Yardstick, [.. r.YardstickLatencyUs!.Points()])));
            AppendLines(page, series);
            PageTable.Append(page, PercentileColumns(series), series.Select(line => PercentileRow(line, "N1")));
        }
    }

    /// <summary>One plot with all targets, beside the median of the yardstick as a level line.</summary>
    private static void AppendInProcess(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        BenchResult first = results[0];
        page.Append(CultureInfo.InvariantCulture, $"<h2>Latency by percentile: {first.Size} B at {first.Rate:N0} messages a second, {(first.Processes == 1 ? "one process" : "two processes")}, {first.Pairs} runs of {first.Messages:N0}</h2>\n");
        List<PlotSeries> series = [.. results.Select(r => new PlotSeries(r.Kind, [.. r.LatencyUs!.Points()]))];
        double line = Median.Of(results.Select(r => r.YardstickLatencyUs!.P50));
        series.Add(new PlotSeries(first.Yardstick, [.. series[0].Points.Select(p => (p.Name, line))]));
        AppendLines(page, series);
        double? lineShare = results.All(r => r.YardstickLatencyUs!.LaterThan20UsPercent is not null) ? Median.Of(results.Select(r => r.YardstickLatencyUs!.LaterThan20UsPercent!.Value)) : null;
        IEnumerable<double?> shares = [.. results.Select(r => r.LatencyUs!.LaterThan20UsPercent), lineShare];
        PageTable.Append(
            page,
            [.. PercentileColumns(series), "later than 20 us"],
            series.Zip(shares, (line, share) => (IEnumerable<string>)[.. PercentileRow(line, "N3"), Text($"{share:F2} %")]));
    }

    private static void AppendLines(StringBuilder page, List<PlotSeries> series) => page.Append(SvgPlot.Lines("microseconds", series));

    private static IEnumerable<string> PercentileColumns(List<PlotSeries> series) => series[0].Points.Select(p => p.Name).Prepend("through");

    private static IEnumerable<string> PercentileRow(PlotSeries line, string format) =>
        line.Points.Select(p => p.Value.ToString(format, CultureInfo.InvariantCulture)).Prepend(line.Name);

    private static PlotSeries ToBars(string name, IReadOnlyList<BenchResult> beside) =>
        new(name, [("lightq", beside[0].MessagesPerSecond ?? 0), .. beside.Select(r => (r.Yardstick, r.YardstickMessagesPerSecond ?? 0))]);

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private static string Escape(string text) => WebUtility.HtmlEncode(text);
}
