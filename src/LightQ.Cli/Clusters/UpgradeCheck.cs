using LightQ.Cli.Output;
using LightQ.Client.Administration;

namespace LightQ.Cli.Clusters;

/// <summary>Whether a broker of a cluster can be stopped and replaced now: the others serve meanwhile.</summary>
internal static class UpgradeCheck
{
    /// <summary>Judges it.</summary>
    /// <param name="cluster">The cluster, as one of its brokers sees it.</param>
    /// <param name="node">The broker that is to be stopped; null for any one.</param>
    public static UpgradeView Judge(ClusterInfo cluster, string? node)
    {
        if (cluster.Name is null)
            return new UpgradeView(node, [$"{cluster.AnsweredBy} has no cluster: nobody serves while it stands"], []);
        if (node is not null && cluster.Nodes.All(n => n.Name != node))
            return new UpgradeView(node, [$"{cluster.AnsweredBy} has never heard of {node}"], []);
        return new UpgradeView(node, [.. ProblemsOf(cluster, node)], [.. NotesOf(cluster, node)]);
    }

    private static IEnumerable<string> ProblemsOf(ClusterInfo cluster, string? node)
    {
        if (cluster.IsListening)
            yield return $"{cluster.AnsweredBy} has just begun to listen: ask again in some seconds";
        foreach (NodeInfo other in cluster.Nodes.Where(n => n.Name != node && n.State != NodeState.Alive))
            yield return $"{other.Name} is {other.State.ToString().ToLowerInvariant()}: one broker after the other";
        if (cluster.Nodes.Count(n => n.State == NodeState.Alive && n.Name != node) < (node is null ? 2 : 1))
            yield return "no other broker is there to take its partitions";
        PartitionLeaderInfo[] unled = [.. cluster.Partitions.Where(p => p.Node is null)];
        if (unled.Length != 0)
            yield return $"{Plural.Of(unled.Length, "partition")} without a leader, such as {Name(unled[0])}";
        foreach (ClusterConditionInfo condition in cluster.Conditions)
            yield return $"{condition.Kind} of {condition.Subject}, says {condition.Node}: {condition.Detail}";
    }

    private static IEnumerable<string> NotesOf(ClusterInfo cluster, string? node)
    {
        PartitionLeaderInfo[] alone =
        [
            .. cluster.Partitions.Where(p => p.Replicas < 2 && p.Node is { } own && own == (node ?? own)),
        ];
        if (alone.Length != 0)
        {
            yield return $"{Plural.Of(alone.Length, "partition")} without replicas, such as {Name(alone[0])}, "
                + "which no other broker serves meanwhile";
        }
        string[] versions = [.. cluster.Nodes.Select(n => n.Version).Where(v => v.Length != 0).Distinct().Order()];
        if (versions.Length > 1)
            yield return $"the brokers have the versions {string.Join(", ", versions)}";
    }

    private static string Name(PartitionLeaderInfo partition) => $"{partition.Topic}/{partition.Partition}";
}
