using System.Text;
using LightQ.Bench.Throughput;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench throughput</c>, and what it measures with <c>--catch-up</c>.</summary>
internal sealed class ThroughputView(bool catchUp) : RateView<ThroughputResult>
{
    public override string Name => catchUp ? "catch-up" : "throughput";

    public override IReadOnlyList<string> Notes =>
        catchUp
            ?
            [
                ScenarioNotes.Broker,
                "Measured: how many messages a second a consumer receives that begins when a durable topic holds "
                    + "them all already, on disk and, being new, in the page cache; from before it subscribes until "
                    + "the last one. The producer has finished by then.",
                ScenarioNotes.Processes,
                ScenarioNotes.Relay,
                ScenarioNotes.Checked,
                "Not shown: a backlog that must come from the disk, a network, and other machines. Compare "
                    + "ratios, not messages per second, between machines.",
            ]
            :
            [
                ScenarioNotes.Broker,
                "Measured: how many messages a second go through one topic, as fast as one producer and one consumer "
                    + "can.",
                ScenarioNotes.Processes,
                ScenarioNotes.Relay,
                ScenarioNotes.Checked,
                ScenarioNotes.OneMachine,
            ];

    public override void AppendFigures(StringBuilder page, IReadOnlyList<ThroughputResult> results)
    {
        AppendBySize(page, results);
        PageTable.Append(page, PageRows("size", "api", results, r => (Text($"{r.Size} B"), r.Api)));
    }
}
