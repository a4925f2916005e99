using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Top;

/// <summary>Who leads which partition; those that nobody leads come first.</summary>
internal sealed class PartitionsView()
    : TopList<PartitionLeaderInfo>(
        "partitions",
        "leader",
        new("partition", p => TopCell.Text(new TopicAddress(p.Topic, p.Partition).ToString())),
        new("leader", p => TopCell.Text(p.Node ?? "-", p.Node is null ? TopMark.Bad : TopMark.None)),
        new("epoch", p => TopCell.Number(p.Epoch)),
        new("replicas", p => TopCell.Number(p.Replicas))
    )
{
    private string? _note;

    public override string? Note => _note;

    protected override async Task<IReadOnlyList<PartitionLeaderInfo>> FetchAsync(
        LightQClient client,
        int? most,
        CancellationToken cancellationToken
    )
    {
        ClusterInfo cluster = await client.Cluster.GetAsync(null, cancellationToken);
        int without = cluster.Partitions.Count(p => p.Node is null);
        _note = ClusterNote.Of(cluster) + (without == 0 ? "" : $"; partitions without a leader: {without}");
        return cluster.Partitions;
    }

    protected override TopReport ReportOf(PartitionLeaderInfo[] rows) =>
        new(Name, DateTimeOffset.UtcNow) { Partitions = rows };
}
