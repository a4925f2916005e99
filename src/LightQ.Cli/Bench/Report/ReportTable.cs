using System.Globalization;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Report;

/// <summary>A report as a table for people.</summary>
internal static class ReportTable
{
    private const double BytesPerMiB = 1024 * 1024;

    public static void Write(BenchReport report, IAnsiConsole console)
    {
        BenchMachine machine = report.Machine;
        console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{report.Scenario} on {machine.Cpu}, {machine.Cores} cores, {machine.MemoryBytes / BytesPerMiB / 1024:F0} GiB, {machine.Runtime}, GC {machine.Gc}"));
        console.Write(report.Results.Any(r => r.LatencyUs is not null) ? Latency(report.Results) : Throughput(report.Results));
        foreach (string remark in report.Remarks)
            console.WriteLine($"Note: {remark}");
        foreach (BenchResult result in report.Results.Where(r => !r.IsSound))
            console.WriteLine($"FAILED at {result.Size} B: {result.Lost} lost, {result.Duplicated} duplicated, {result.Reordered} reordered, {result.Damaged} damaged.");
        foreach (BenchResult result in report.Results.Where(r => r.YardstickFaults > 0))
            console.WriteLine($"Note: {result.Yardstick} lost, repeated, reordered or damaged {result.YardstickFaults} messages at {result.Size} B.");
    }

    private static Table Throughput(IReadOnlyList<BenchResult> results)
    {
        Table table = CommandConsole.Table("size", "kind", "ack", "api", "messages/s", "MiB/s", "yardstick", "its messages/s", "ratio", "broker CPU s", "peak MiB");
        foreach (BenchResult r in results)
        {
            table.AddRow(
                Text($"{r.Size} B"),
                r.Kind,
                r.Ack,
                r.Api,
                Text($"{r.MessagesPerSecond:N0}"),
                Text($"{r.MessagesPerSecond * r.Size / BytesPerMiB:N0}"),
                r.Yardstick,
                Text($"{r.YardstickMessagesPerSecond:N0}"),
                Text($"{r.Ratio:F2}"),
                Text($"{r.BrokerCpuSeconds:F2}"),
                Text($"{r.BrokerPeakRssBytes / BytesPerMiB:F0}"));
        }
        return table;
    }

    private static Table Latency(IReadOnlyList<BenchResult> results)
    {
        Table table = CommandConsole.Table("size", "kind", "ack", "rate", "through", "p50 us", "p90", "p99", "p99.9", "p99.99", "max", "p50 ratio", "p99 ratio");
        foreach (BenchResult r in results)
        {
            string[] start = [Text($"{r.Size} B"), r.Kind, r.Ack, Text($"{r.Rate:N0}/s")];
            table.AddRow([.. start, "lightq", .. Row(r.LatencyUs!), Text($"{r.Ratio:F2}"), Text($"{r.RatioP99:F2}")]);
            table.AddRow([.. start, r.Yardstick, .. Row(r.YardstickLatencyUs!), "1", "1"]);
        }
        return table;
    }

    private static IEnumerable<string> Row(LatencyFigures figures) => figures.Points().Skip(1).Select(p => Text($"{p.Value:N1}"));

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
