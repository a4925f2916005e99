using System.Globalization;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Report;

/// <summary>A row for each startup bench, for people and for the page.</summary>
internal static class StartupTable
{
    private const double BytesPerMiB = 1024 * 1024;

    public static readonly IReadOnlyList<string> Columns =
        ["topics", "backlog MiB", "ready ms", "slowest", "yardstick", "its ready ms", "ratio", "MiB when ready", "peak MiB", "checked"];

    public static Table Create(IReadOnlyList<BenchResult> results)
    {
        Table table = CommandConsole.Table([.. Columns]);
        foreach (BenchResult result in results)
            table.AddRow([.. Row(result).Select(Markup.Escape)]);
        return table;
    }

    public static string[] Row(BenchResult result) =>
    [
        Text($"{result.Topics:N0}"),
        Text($"{result.BacklogBytes / BytesPerMiB:N0}"),
        Text($"{result.ReadyMs:N0}"),
        Text($"{result.ReadyRunsMs!.Max():N0}"),
        result.Yardstick,
        Text($"{result.YardstickReadyMs:N0}"),
        Text($"{result.Ratio:F2}"),
        Text($"{result.BrokerReadyRssBytes / BytesPerMiB:F0}"),
        Text($"{result.BrokerPeakRssBytes / BytesPerMiB:F0}"),
        result.IsSound ? "nothing lost" : "FAILED",
    ];

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
