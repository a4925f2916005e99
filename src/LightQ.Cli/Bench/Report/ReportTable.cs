using System.Globalization;
using LightQ.Cli.Bench.Fanout;
using LightQ.Cli.Bench.Reference;
using LightQ.Cli.Bench.Scale;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Report;

/// <summary>A report as a table for people.</summary>
internal static class ReportTable
{
    private const double BytesPerMiB = 1024 * 1024;
    private const double NanosecondsPerMicrosecond = 1000;

    public static void Write(BenchReport report, IAnsiConsole console)
    {
        BenchMachine machine = report.Machine;
        console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{report.Scenario} on {machine.Cpu}, {machine.Cores} cores, {machine.MemoryBytes / BytesPerMiB / 1024:F0} GiB, {machine.Runtime}, GC {machine.Gc}"));
        console.Write(report.Results.Any(r => r.ReadyMs is not null) ? StartupTable.Create(report.Results)
            : report.Results.Any(r => r.Scale is not null) ? ScaleTable.Create(report.Results)
            : report.Results.Any(r => r.Fanout is not null) ? FanoutTable.Create(report.Results)
            : report.Results.Any(r => r.PublishedMessagesPerSecond is not null) ? ReferenceTable.Create(report.Results)
            : report.Results.Any(r => r.Processes is not null) ? InProcess(report.Results)
            : report.Results.Any(r => r.LatencyUs is not null) ? Latency(report.Results) : Throughput(report.Results));
        foreach (string remark in report.Remarks)
            console.WriteLine($"Note: {remark}");
        foreach (string failure in FanoutTable.Failures(report.Results))
            console.WriteLine(failure);
        foreach (BenchResult result in report.Results.Where(r => r.Faults > 0).DistinctBy(r => (r.Size, r.Kind)))
            console.WriteLine($"FAILED at {result.Size} B, {result.Kind}: {result.Lost} lost, {result.Duplicated} duplicated, {result.Reordered} reordered, {result.Damaged} damaged.");
        foreach (BenchResult result in report.Results.Where(r => r.YardstickFaults > 0))
            console.WriteLine($"Note: {result.Yardstick} lost, repeated, reordered or damaged {Plural.Of(result.YardstickFaults, "message")} at {result.Size} B.");
    }

    /// <summary>A row for each size; the yardsticks stand beside the product.</summary>
    private static Table Throughput(IReadOnlyList<BenchResult> results)
    {
        string[] yardsticks = Yardsticks(results);
        Table table = CommandConsole.Table(
            ["size", "kind", "ack", "api", "messages/s", "MiB/s", .. yardsticks.SelectMany(y => new[] { $"{y} messages/s", $"of {y}" }), "broker CPU s", "peak MiB"]);
        foreach (BenchResult[] beside in BySize(results, yardsticks))
        {
            BenchResult r = beside[0];
            table.AddRow(
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
            ]);
        }
        return table;
    }

    /// <summary>A row for each target, in nanoseconds: the medians of its runs, and of their ratios to the hand-off of a cache line.</summary>
    private static Table InProcess(IReadOnlyList<BenchResult> results)
    {
        string[] percentiles = [.. results.SelectMany(r => r.LatencyUs!.Points()).Select(p => p.Name).Distinct().OrderBy(name => name == "max").Skip(1)];
        Table table = CommandConsole.Table(["target", "size", "rate", "processes", .. percentiles.Select(p => $"{p} ns"), "> 20 us", "line > 20 us", "line p50 ns", "p50 of line", "p99 of line", "checked"]);
        foreach (BenchResult r in results)
        {
            Dictionary<string, double> points = r.LatencyUs!.Points().ToDictionary(p => p.Name, p => p.Value);
            table.AddRow(
            [
                r.Kind,
                Text($"{r.Size} B"),
                Text($"{r.Rate:N0}/s"),
                Text($"{r.Processes}"),
                .. percentiles.Select(p => points.TryGetValue(p, out double value) ? Text($"{value * NanosecondsPerMicrosecond:N0}") : ""),
                Text($"{r.LatencyUs!.LaterThan20UsPercent:F2} %"),
                Text($"{r.YardstickLatencyUs!.LaterThan20UsPercent:F2} %"),
                Text($"{r.YardstickLatencyUs!.P50 * NanosecondsPerMicrosecond:N0}"),
                Text($"{r.Ratio:F2}"),
                Text($"{r.RatioP99:F2}"),
                r.IsSound ? "all, in order" : "FAILED",
            ]);
        }
        return table;
    }

    /// <summary>A row for the product with its ratios to every yardstick, and one for each yardstick.</summary>
    private static Table Latency(IReadOnlyList<BenchResult> results)
    {
        string[] yardsticks = Yardsticks(results);
        Table table = CommandConsole.Table(
            ["size", "kind", "ack", "rate", "through", "p50 us", "p90", "p99", "p99.9", "p99.99", "max", .. yardsticks.SelectMany(y => new[] { $"p50 of {y}", $"p99 of {y}" })]);
        foreach (BenchResult[] beside in BySize(results, yardsticks))
        {
            BenchResult r = beside[0];
            string[] start = [Text($"{r.Size} B"), r.Kind, r.Ack, Text($"{r.Rate:N0}/s")];
            table.AddRow([.. start, "lightq", .. Row(r.LatencyUs!), .. beside.SelectMany(b => new[] { Text($"{b.Ratio:F2}"), Text($"{b.RatioP99:F2}") })]);
            foreach (BenchResult other in beside)
                table.AddRow([.. start, other.Yardstick, .. Row(other.YardstickLatencyUs!), .. Enumerable.Repeat("", 2 * yardsticks.Length)]);
        }
        return table;
    }

    /// <summary>The yardsticks, in the order in which they come.</summary>
    public static string[] Yardsticks(IReadOnlyList<BenchResult> results) => [.. results.Select(r => r.Yardstick).Distinct()];

    /// <summary>The results of each size, kind and way to use the product, in the yardsticks' order.</summary>
    public static IEnumerable<BenchResult[]> BySize(IReadOnlyList<BenchResult> results, string[] yardsticks) =>
        results.GroupBy(r => (r.Size, r.Kind, r.Api)).Select(g => g.OrderBy(r => Array.IndexOf(yardsticks, r.Yardstick)).ToArray());

    private static IEnumerable<string> Row(LatencyFigures figures) => figures.Points().Skip(1).Select(p => Text($"{p.Value:N1}"));

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
