using System.Globalization;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Reference;

/// <summary>A row for each cell of the grid, with what each document has published, what it truly was, and the ratio to that; for people and for the page.</summary>
internal static class ReferenceTable
{
    private const double BytesPerMiB = 1024 * 1024;

    public static Table Create(IReadOnlyList<BenchResult> results)
    {
        Table table = CommandConsole.Table([.. Columns(results)]);
        foreach (string[] row in Rows(results))
            table.AddRow([.. row.Select(Markup.Escape)]);
        return table;
    }

    public static IEnumerable<string> Columns(IReadOnlyList<BenchResult> results)
    {
        string[] documents = ReportTable.Yardsticks(results);
        return
        [
            "size", "kind", "ack", "messages", .. documents.SelectMany(d => new[] { $"{d} published", "true" }),
            "messages/s", "MiB/s", .. documents.Select(d => $"of {d}"), "p50 us", "p99 us", "checked",
        ];
    }

    public static IEnumerable<string[]> Rows(IReadOnlyList<BenchResult> results) => ReportTable.BySize(results, ReportTable.Yardsticks(results)).Select(Row);

    private static string[] Row(BenchResult[] beside)
    {
        BenchResult r = beside[0];
        return
        [
            Text($"{r.Size} B"),
            r.Kind,
            r.Ack,
            Text($"{r.Messages:N0}"),
            .. beside.SelectMany(b => new[] { Text($"{b.PublishedMessagesPerSecond:N0}"), Text($"{b.YardstickMessagesPerSecond:N0}") }),
            Text($"{r.MessagesPerSecond:N0}"),
            Text($"{r.MessagesPerSecond * r.Size / BytesPerMiB:N0}"),
            .. beside.Select(b => Text($"{b.Ratio:F2}")),
            Text($"{r.LatencyUs?.P50:N0}"),
            Text($"{r.LatencyUs?.P99:N0}"),
            r.IsSound ? "all, in order" : "FAILED",
        ];
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
