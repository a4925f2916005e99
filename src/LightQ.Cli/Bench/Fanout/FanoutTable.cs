using System.Globalization;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Fanout;

/// <summary>The runs of a fan-out with the document's row below, for people.</summary>
internal static class FanoutTable
{
    private const double BytesPerMiB = 1024 * 1024, MicrosecondsPerMillisecond = 1000;

    public static readonly IReadOnlyList<string> Columns =
        ["", "publishers", "subscribers", "size", "messages/s", "idle", "deliveries/s", "mean ms", "p50", "p99", "max", "lost", "settled", "CPU", "load", "MiB"];

    public static Table Create(IReadOnlyList<BenchResult> results)
    {
        Table table = CommandConsole.Table([.. Columns]);
        foreach (string[] row in Rows(results))
            table.AddRow([.. row.Select(Markup.Escape)]);
        return table;
    }

    /// <summary>A row for every run, and the document's.</summary>
    public static IEnumerable<string[]> Rows(IReadOnlyList<BenchResult> results)
    {
        foreach (BenchResult result in results)
            yield return Row("lightq", result.Size, result.Fanout!, result.LatencyUs, "");
        yield return Row("EMQ's document", FanoutSettings.UsualSize, FanoutFigures.Document, null, "<= ");
    }

    /// <summary>What is wrong with runs of a fan-out, besides lost messages; nothing for other results.</summary>
    public static IEnumerable<string> Failures(IEnumerable<BenchResult> results) =>
        from result in results
        let figures = result.Fanout
        where figures is { IsSettled: false } or { LossPercent: not 0 }
        select figures.LossPercent != 0
            ? Text($"FAILED at {figures.Rate:0.##} messages/s: the log has {figures.Entries:N0} entries, {figures.LossPercent:0.###} % fewer than deliveries were due. Did another run write to it?")
            : Text($"FAILED at {figures.Rate:0.##} messages/s: {figures.Settled:N0} of {figures.Published * figures.Subscribers:N0} deliveries were settled.");

    private static string[] Row(string name, int size, FanoutFigures figures, LatencyFigures? latency, string bound) =>
    [
        name,
        Text($"{figures.Publishers:N0}"),
        Text($"{figures.Subscribers:N0}"),
        Text($"{size} B"),
        Text($"{figures.Rate:0.##}"),
        Text($"{figures.IdleConnections:N0}"),
        Text($"{figures.DeliveriesPerSecond:N0}"),
        Text($"{figures.MeanUs / MicrosecondsPerMillisecond:N1}"),
        Text($"{latency?.P50 / MicrosecondsPerMillisecond:N1}"),
        Text($"{latency?.P99 / MicrosecondsPerMillisecond:N1}"),
        Text($"{latency?.Max / MicrosecondsPerMillisecond:N1}"),
        Text($"{figures.LossPercent:0.###} %"),
        figures.Settled is null ? "" : figures.IsSettled ? "all" : Text($"{figures.Settled:N0}"),
        figures.CpuPercent is { } cpu ? bound + Text($"{cpu:N0} %") : "",
        figures.Load is { } load ? bound + Text($"{load:0.##}") : "",
        figures.RssBytes is { } rss ? bound + Text($"{rss / BytesPerMiB:N0}") : "",
    ];

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
