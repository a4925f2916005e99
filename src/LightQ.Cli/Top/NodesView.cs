using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Top;

/// <summary>The nodes of a cluster.</summary>
internal sealed class NodesView()
    : TopList<NodeInfo>(
        "nodes",
        "node",
        new("node", n => TopCell.Text(n.Name)),
        new(
            "state",
            n =>
                TopCell.Text(n.State.ToString().ToLowerInvariant(), n.State == NodeState.Silent ? TopMark.Bad : default)
        ),
        new("leads", n => TopCell.Number(n.Leads)),
        new("silence", n => TopCell.Seconds(n.Silence.TotalSeconds)),
        new("data", n => TopCell.Text(n.DataAddress)),
        new("control", n => TopCell.Text(n.ControlAddress)),
        new("version", n => TopCell.Text(n.Version))
    )
{
    // No topic can have this name: no partitions come with the nodes.
    private static readonly string[] NoTopic = ["-"];

    private string? _note;

    public override string? Note => _note;

    protected override async Task<IReadOnlyList<NodeInfo>> FetchAsync(
        LightQClient client,
        int? most,
        CancellationToken cancellationToken
    )
    {
        ClusterInfo cluster = await client.Cluster.GetAsync(NoTopic, cancellationToken);
        _note = ClusterNote.Of(cluster);
        return cluster.Nodes;
    }

    protected override TopReport ReportOf(NodeInfo[] rows) => new(Name, DateTimeOffset.UtcNow) { Nodes = rows };
}
