using System.Globalization;
using System.Net;
using System.Text;
using LightQ.Bench;

namespace LightQ.Cli.Bench.Report;

/// <summary>A report as one page that needs nothing else: style, plots and figures are inside.</summary>
internal static class ReportPage
{
    private const double BytesPerGiB = 1024 * 1024 * 1024;

    private const string Style = """
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
        table { display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
        th, td { padding: .25rem .6rem; white-space: nowrap; border-bottom: 1px solid #d0d7de; text-align: right } th { font-weight: 600 }
        svg { max-width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: currentColor }
        .remark { border-left: 3px solid #d97706; padding-left: .75rem } .bad { color: #b3261e; font-weight: 600 } .dim { color: #59636e }
        @media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } th, td { border-color: #30363d } .dim { color: #9198a1 } .bad { color: #ff8a80 } }
        """;

    public static string Create<TResult>(ScenarioView<TResult> view, BenchReport<TResult> report)
        where TResult : BenchResult
    {
        var page = new StringBuilder();
        BenchMachine machine = report.Machine;
        page.Append(
            CultureInfo.InvariantCulture,
            $"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>LightQ "
                + $"{Escape(report.Scenario)}</title>\n<style>\n{Style}\n</style>\n"
        );
        page.Append(CultureInfo.InvariantCulture, $"<h1>LightQ: {Escape(report.Scenario)}</h1>\n");
        page.Append(
            CultureInfo.InvariantCulture,
            $"<p class=\"dim\">{Escape(machine.Cpu)}, {machine.Cores} cores, {machine.MemoryBytes / BytesPerGiB:F0} "
                + $"GiB, {Escape(machine.Runtime)}, GC {Escape(machine.Gc)}; LightQ "
                + $"{Escape(typeof(ReportPage).Assembly.GetName().Version!.ToString(3))}, "
                + $"{DateTimeOffset.UtcNow:yyyy-MM-dd HH:mm} UTC.</p>\n"
        );
        foreach (string note in view.Notes)
            page.Append(CultureInfo.InvariantCulture, $"<p>{Escape(note)}</p>\n");
        foreach (string remark in report.Remarks)
            page.Append(CultureInfo.InvariantCulture, $"<p class=\"remark\">{Escape(remark)}</p>\n");
        view.AppendFigures(page, report.Results);
        foreach (TResult r in report.Results.Where(r => r.Faults > 0))
        {
            page.Append(
                CultureInfo.InvariantCulture,
                $"<p class=\"bad\">At {r.Size} B: {r.Lost} lost, {r.Duplicated} duplicated, {r.Reordered} reordered, "
                    + $"{r.Damaged} damaged.</p>\n"
            );
        }
        return page.Append("</html>\n").ToString();
    }

    private static string Escape(string text) => WebUtility.HtmlEncode(text);
}
