using System.Text;
using LightQ.Bench.Reference;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench reference</c>.</summary>
internal sealed class ReferenceView : RateView<ReferenceResult>
{
    public override string Name => "reference";

    public override IReadOnlyList<string> Notes { get; } =
    [
        ScenarioNotes.Broker,
        "Measured: ten million messages (or as many as the table says) from one producer to one consumer, "
            + "beside what two published documents say of the broker that LightQ re-creates. Theirs are other "
            + "machines and years: the ratio says how the figures compare, not how the programs would side by side.",
        ScenarioNotes.Processes,
        ScenarioNotes.Checked,
    ];

    /// <summary>
    /// A row for each cell of the grid, with what each document has published, what it truly was, and the ratio to
    /// that.
    /// </summary>
    public override ReportRows Table(IReadOnlyList<ReferenceResult> results)
    {
        string[] documents = Yardsticks.Of(results);
        return new(
            [
                "size",
                "kind",
                "ack",
                "messages",
                .. documents.SelectMany(d => new[] { $"{d} published", "true" }),
                "messages/s",
                "MiB/s",
                .. documents.Select(d => $"of {d}"),
                "p50 us",
                "p99 us",
                "checked",
            ],
            [.. Yardsticks.Beside(results).Select(Row)]
        );
    }

    public override void AppendFigures(StringBuilder page, IReadOnlyList<ReferenceResult> results)
    {
        AppendBySize(page, results);
        PageTable.Append(page, Table(results));
    }

    private static string[] Published(ReferenceResult document) =>
        [Text($"{document.PublishedMessagesPerSecond:N0}"), Text($"{document.YardstickMessagesPerSecond:N0}")];

    private static string[] Row(ReferenceResult[] beside)
    {
        ReferenceResult r = beside[0];
        return
        [
            Text($"{r.Size} B"),
            r.Kind,
            r.Ack,
            Text($"{r.Messages:N0}"),
            .. beside.SelectMany(Published),
            Text($"{r.MessagesPerSecond:N0}"),
            Text($"{r.MessagesPerSecond * r.Size / BytesPerMiB:N0}"),
            .. beside.Select(b => Text($"{b.Ratio:F2}")),
            Text($"{r.LatencyUs.P50:N0}"),
            Text($"{r.LatencyUs.P99:N0}"),
            r.IsSound ? "all, in order" : "FAILED",
        ];
    }
}
