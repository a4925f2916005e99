using System.Globalization;
using System.Text;
using LightQ.Bench.Settle;

namespace LightQ.Cli.Bench.Report;

/// <summary><c>lightq bench settle</c>.</summary>
internal sealed class SettleView : RateView<SettleResult>
{
    public override string Name => "settle";

    public override IReadOnlyList<string> Notes { get; } =
    [
        ScenarioNotes.Broker,
        "Measured: how many messages a second one member of a group reads from a topic that was filled "
            + "before and settles, until the broker has taken the last settlement. The yardstick is a member whose "
            + "messages the broker settles itself, once it has sent them.",
        "A run counts only when the broker has nothing left to be settled.",
        ScenarioNotes.OneMachine,
    ];

    /// <summary>A group of bars for each way to settle.</summary>
    public override void AppendFigures(StringBuilder page, IReadOnlyList<SettleResult> results)
    {
        page.Append(CultureInfo.InvariantCulture, $"<h2>Settled messages, {results[0].Size} B</h2>\n");
        page.Append(SvgPlot.Bars("messages a second", [.. results.Select(r => ToBars(r.Api, [r]))]));
        PageTable.Append(page, PageRows("settled", "size", results, r => (r.Api, Text($"{r.Size} B"))));
    }
}
