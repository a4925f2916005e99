using System.Globalization;
using LightQ.Broker.Cluster;
using LightQ.Broker.Topics;

namespace LightQ.Server.Telemetry;

/// <summary>The figures of a cluster; a broker without one has none of them.</summary>
internal static class ClusterFigureList
{
    /// <summary>All of them.</summary>
    public static IReadOnlyList<Figure> All { get; } =
    [
        Members(
            "lightq.cluster.nodes",
            "{node}",
            "Nodes of the cluster that this broker hears, itself among them.",
            m => m.Members.Count(member => member.IsLive)
        ),
        Members(
            "lightq.cluster.led_partitions",
            "{partition}",
            "Partitions with replicas that this broker leads.",
            m => m.LedBy(m.Node).Count
        ),
        Members(
            "lightq.cluster.draining",
            "",
            "1 while this broker gives its partitions to other nodes.",
            m => m.IsDraining ? 1 : 0
        ),
        Partitions(
            "lightq.partition.epoch",
            "The newest epoch of a partition with replicas that this broker knows.",
            (_, now) => now.Epoch
        ),
        Partitions(
            "lightq.partition.leader",
            "Of a partition with replicas: 2 if this broker leads it, 1 if another node does, 0 if none does.",
            (members, now) =>
                !now.IsLed ? 0
                : now.Leader == members.Node ? 2
                : 1
        ),
    ];

    private static Figure Members(string name, string unit, string help, Func<ClusterMembers, double> value) =>
        new(
            name,
            FigureKind.Gauge,
            unit,
            help,
            r => r.Source.Broker.Replicas.Members is { } members ? Figures.One(value(members)) : []
        );

    private static Figure Partitions(string name, string help, Func<ClusterMembers, Situation, double> value) =>
        new(
            name,
            FigureKind.Gauge,
            "",
            help,
            r =>
                r.Source.Broker.Replicas.Members is not { } members
                    ? []
                    : from t in r.Topics
                    where t.Topic.Settings.IsReplicated
                    from Partition p in t.Topic.Partitions
                    select new FigureSample(
                        value(members, members.Of(new PartitionId(t.Topic.Id, p.Index))),
                        t.Topic.Name,
                        p.Index.ToString(CultureInfo.InvariantCulture)
                    ),
            "topic",
            "partition"
        );
}
