using System.Text;
using LightQ.Bench.Scale;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench scale</c>.</summary>
internal sealed class ScaleView : ScenarioView<ScaleResult>
{
    private const double BytesPerKiB = 1024;

    public override string Name => "scale";

    public override IReadOnlyList<string> Notes { get; } =
    [
        ScenarioNotes.Broker,
        "Measured: the same work on two brokers, of which the second has more around it: more topics, more "
            + "stored, more subscriptions, or more idle connections. What is left with many, of what there is with "
            + "few, says what growth costs.",
        "Every delivery is counted and its offset must follow the one before; a run in which one is missing "
            + "counts as failed.",
        "Not shown: a network, and other machines.",
    ];

    /// <summary>A row for every dimension.</summary>
    public override ReportRows Table(IReadOnlyList<ScaleResult> results) =>
        new(
            [
                "what grows",
                "from",
                "to",
                "topics",
                "measured",
                "with few",
                "with many",
                "ratio",
                "KiB each",
                "idle CPU",
                "at rest MiB",
                "peak MiB",
                "checked",
            ],
            [.. results.Select(Row)]
        );

    public override void AppendFigures(StringBuilder page, IReadOnlyList<ScaleResult> results)
    {
        page.Append("<h2>What is left with many, of what there is with few</h2>\n");
        page.Append(SvgPlot.Bars("percent", [.. results.Select(ToBars)]));
        PageTable.Append(page, Table(results));

        static PlotSeries ToBars(ScaleResult result) =>
            new(result.Scale.Dimension, [("few", 100), ("many", Math.Round(100 * result.Ratio, 1))]);
    }

    private static string[] Row(ScaleResult result)
    {
        ScaleFigures scale = result.Scale;
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
}
