using System.Globalization;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Scale;

/// <summary>A row for every dimension.</summary>
internal static class ScaleTable
{
    private const double BytesPerMiB = 1024 * 1024, BytesPerKiB = 1024;

    public static readonly IReadOnlyList<string> Columns =
        ["what grows", "from", "to", "topics", "measured", "with few", "with many", "ratio", "KiB each", "idle CPU", "at rest MiB", "peak MiB", "checked"];

    public static Table Create(IReadOnlyList<BenchResult> results)
    {
        Table table = CommandConsole.Table([.. Columns]);
        foreach (BenchResult result in results)
            table.AddRow([.. Row(result).Select(Markup.Escape)]);
        return table;
    }

    public static string[] Row(BenchResult result)
    {
        ScaleFigures scale = result.Scale!;
        return
        [
            scale.Dimension,
            Count(scale, scale.Few),
            Count(scale, scale.Many),
            $"{result.Kind}, {result.Ack}",
            scale.Unit,
            Text($"{scale.FewRate:N0}"),
            Text($"{scale.ManyRate:N0}"),
            Text($"{result.Ratio:F2}"),
            Text($"{scale.BytesEach / BytesPerKiB:F1}"),
            Text($"{scale.IdleCpuPercent:F1} %"),
            Text($"{scale.RestBytes / BytesPerMiB:F0}"),
            Text($"{result.BrokerPeakRssBytes / BytesPerMiB:F0}"),
            result.IsSound ? "all, in order" : "FAILED",
        ];
    }

    private static string Count(ScaleFigures scale, long count) =>
        scale.Dimension == ScaleDimension.Backlog.Word() ? Text($"{count / BytesPerMiB:N0} MiB") : Text($"{count:N0}");

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
