using System.Globalization;
using LightQ.Client;

namespace LightQ.Cli.Top;

/// <summary>Connections of the data plane.</summary>
internal sealed class ConnectionsView()
    : TopList<ConnectionInfo>(
        "connections",
        "subs",
        new("id", c => TopCell.Text(c.Id.ToString(CultureInfo.InvariantCulture))),
        new("address", c => TopCell.Text(c.RemoteAddress)),
        new("pubs", c => TopCell.Number(c.PublishersCount)),
        new("subs", c => TopCell.Number(c.SubscribersCount)),
        new("age", c => TopCell.Seconds(Math.Max(0, (DateTimeOffset.UtcNow - c.ConnectTime).TotalSeconds))),
        new("client", c => TopCell.Text(c.ClientName))
    )
{
    protected override async Task<IReadOnlyList<ConnectionInfo>> FetchAsync(
        LightQClient client,
        int? most,
        CancellationToken cancellationToken
    ) => await client.Stats.ListConnectionsAsync(cancellationToken);

    protected override TopReport ReportOf(ConnectionInfo[] rows) =>
        new(Name, DateTimeOffset.UtcNow) { Connections = rows };
}
