using System.Globalization;
using System.Net;
using System.Text;
using LightQ.Cli.Bench.Fanout;
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
        if (report.Results.Any(r => r.Processes is not null))
            AppendInProcess(page, report.Results);
        else if (report.Results.Any(r => r.Fanout is not null))
            FanoutPage.Append(page, report.Results);
        else if (report.Results.Any(r => r.Scale is not null))
            ScalePage.Append(page, report.Results);
        else if (report.Results.Any(r => r.YardstickLatencyUs is not null))
            AppendLatency(page, report.Results);
        else
            AppendThroughput(page, report.Results);
        foreach (BenchResult r in report.Results.Where(r => r.Faults > 0))
        {
            page.Append(
                CultureInfo.InvariantCulture,
                $"<p class=\"bad\">At {r.Size} B: {r.Lost} lost, {r.Duplicated} duplicated, {r.Reordered} reordered, {r.Damaged} damaged.</p>\n");
        }
        return page.Append("</html>\n").ToString();
    }

    private static void AppendThroughput(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        foreach (IGrouping<string, BenchResult> kind in results.GroupBy(r => r.Kind))
        {
            page.Append(CultureInfo.InvariantCulture, $"<h2>Throughput by size: {kind.Key} topic</h2>\n");
            page.Append(SvgPlot.Bars("messages a second", [.. kind.GroupBy(r => r.Size).Select(ToBars)]));
        }
        page.Append("<table><tr><th>size<th>topic<th>acknowledged<th>api<th>messages<th>messages/s<th>MiB/s<th>yardstick<th>its messages/s<th>ratio</tr>\n");
        foreach (BenchResult r in results)
        {
            page.Append(
                CultureInfo.InvariantCulture,
                $"<tr><td>{r.Size} B<td>{r.Kind}<td>{r.Ack}<td>{r.Api}<td>{r.Messages:N0}<td>{r.MessagesPerSecond:N0}<td>{r.MessagesPerSecond * r.Size / BytesPerMiB:N0}<td>{r.Yardstick}<td>{r.YardstickMessagesPerSecond:N0}<td>{r.Ratio:F2}</tr>\n");
        }
        page.Append("</table>\n");
    }

    private static void AppendLatency(StringBuilder page, IReadOnlyList<BenchResult> results)
    {
        foreach (IGrouping<int, BenchResult> group in results.GroupBy(r => r.Size))
        {
            BenchResult first = group.First();
            page.Append(CultureInfo.InvariantCulture, $"<h2>Latency by percentile: {first.Size} B at {first.Rate:N0} messages a second, {first.Kind}, ack {first.Ack}</h2>\n");
            List<PlotSeries> series = [new("lightq", [.. first.LatencyUs!.Points()])];
            series.AddRange(group.Select(r => new PlotSeries(r.Yardstick, [.. r.YardstickLatencyUs!.Points()])));
            AppendLatency(page, series, "N1");
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
        AppendLatency(page, series, "N3");
    }

    private static void AppendLatency(StringBuilder page, List<PlotSeries> series, string format)
    {
        page.Append(SvgPlot.Lines("microseconds", series));
        page.Append("<table><tr><th>through");
        page.AppendJoin("", series[0].Points.Select(p => $"<th>{p.Name}")).Append("</tr>\n");
        foreach (PlotSeries line in series)
        {
            page.Append(CultureInfo.InvariantCulture, $"<tr><td>{line.Name}");
            page.AppendJoin("", line.Points.Select(p => "<td>" + p.Value.ToString(format, CultureInfo.InvariantCulture))).Append("</tr>\n");
        }
        page.Append("</table>\n");
    }

    private static PlotSeries ToBars(IGrouping<int, BenchResult> group) => new(
        string.Create(CultureInfo.InvariantCulture, $"{group.Key} B"),
        [("lightq", group.First().MessagesPerSecond ?? 0), .. group.Select(r => (r.Yardstick, r.YardstickMessagesPerSecond ?? 0))]);

    private static string Escape(string text) => WebUtility.HtmlEncode(text);
}
