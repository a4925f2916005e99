using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Top;

/// <summary>Groups: how far behind they are, and who works for them.</summary>
internal sealed class GroupsView()
    : TopList<TopGroup>(
        "groups",
        "lag",
        new("topic", g => TopCell.Text(g.Topic)),
        new("group", g => TopCell.Text(g.Group)),
        new("lag", g => TopCell.Number(g.Lag)),
        new("age", g => TopCell.Seconds(g.OldestUnsettledSeconds)),
        new("members", g => TopCell.Number(g.Clients, g is { Clients: 0, Lag: > 0 } ? TopMark.Bad : TopMark.None)),
        new("held", g => TopCell.Number(g.InFlight)),
        new("out", g => TopCell.Number(g.DeliveryRate)),
        new("letters", g => TopCell.Number(g.DeadLettered, g.DeadLettered > 0 ? TopMark.Warning : TopMark.None)),
        new("again", g => TopCell.Number(g.Redelivered)),
        new("state", g => g.Paused ? TopCell.Text("paused", TopMark.Warning) : TopCell.Text("ok"))
    )
{
    private readonly Rates<(string Topic, string Group)> _rates = new();

    public override bool HasRates => true;

    protected override async Task<IReadOnlyList<TopGroup>> FetchAsync(
        LightQClient client,
        int? most,
        CancellationToken cancellationToken
    )
    {
        IReadOnlyList<GroupInfo> groups = await client.Groups.ListAsync(null, cancellationToken);
        DateTimeOffset time = DateTimeOffset.UtcNow;
        TopGroup[] rows =
        [
            .. groups.Select(g => new TopGroup(g.Topic, g.Group, g.Lag, g.ClientsCount, g.IsPaused)
            {
                OldestUnsettledSeconds = g.OldestUnsettledAge?.TotalSeconds,
                InFlight = g.InFlight,
                DeliveryRate = _rates.Of((g.Topic, g.Group), time, g.Delivered)[0],
                Redelivered = g.Redelivered,
                DeadLettered = g.DeadLettered,
            }),
        ];
        _rates.EndReading();
        return rows;
    }

    protected override TopReport ReportOf(TopGroup[] rows) => new(Name, DateTimeOffset.UtcNow) { Groups = rows };
}
