using System.Globalization;
using LightQ.Client.Administration;
using LightQ.Server.Diagnosis;

namespace LightQ.Cli.Doctor;

/// <summary>A running cluster, as one of its brokers sees it.</summary>
internal static class NodeChecks
{
    /// <summary>The check of the nodes, which also fails when the broker does not answer.</summary>
    public const string Check = "cluster's nodes";

    private const string Page = "See docs/operate/cluster.md.";

    /// <summary>What is to be said; nothing of a broker without a cluster.</summary>
    public static IEnumerable<Finding> Judge(ClusterInfo cluster)
    {
        if (cluster.Name is null)
            yield break;
        yield return Nodes(cluster);
        if (Versions(cluster.Nodes) is { } versions)
            yield return versions;
        if (cluster.Engine?.Split(' ') is ["nats-server", var engine, ..])
            yield return ClusterChecks.Version([engine]);
        yield return Partitions(cluster);
        foreach (ClusterConditionInfo condition in cluster.Conditions)
            yield return Of(condition);
    }

    /// <summary>What a broker has found itself. A kind of its own needs nothing here.</summary>
    private static Finding Of(ClusterConditionInfo condition)
    {
        string check = $"cluster's {condition.Kind}",
            found = $"{condition.Subject}: {condition.Detail} (says {condition.Node})";
        return condition.IsFailure
            ? Finding.Failed(check, found, condition.Remedy)
            : Finding.Warning(check, found, condition.Remedy);
    }

    private static Finding Nodes(ClusterInfo cluster)
    {
        NodeInfo[] silent = [.. cluster.Nodes.Where(n => n.State == NodeState.Silent)],
            draining = [.. cluster.Nodes.Where(n => n.State == NodeState.Draining)];
        int all = cluster.Nodes.Count;
        string Silent() =>
            string.Join(
                ", ",
                silent.Select(n =>
                    string.Create(CultureInfo.InvariantCulture, $"{n.Name} for {n.Silence.TotalSeconds:0} s")
                )
            );
        if (2 * silent.Length > all)
        {
            return Finding.Failed(
                Check,
                $"{cluster.AnsweredBy} does not hear {silent.Length} of {all}: {Silent()}",
                "Do they run, and do they and this one reach the nats-servers? Ask another broker (--server) what it "
                    + $"hears. {Page}"
            );
        }
        if (silent.Length != 0)
        {
            return Finding.Warning(
                Check,
                $"{silent.Length} of {all} {(silent.Length == 1 ? "is" : "are")} silent: {Silent()}",
                $"Start it again, or leave it: after 10 minutes it is listed no more. {Page}"
            );
        }
        return draining.Length != 0
            ? Finding.Warning(
                Check,
                $"{string.Join(", ", draining.Select(n => n.Name))} of {all} drains, and leads nothing until it is "
                    + "started again",
                "Start it again when it is to take its share."
            )
            : Finding.Ok(
                Check,
                $"{all} alive: {string.Join(", ", cluster.Nodes.Select(n => $"{n.Name} leads {n.Leads}"))}"
            );
    }

    private static Finding? Versions(IReadOnlyList<NodeInfo> nodes)
    {
        string[] versions = [.. nodes.Select(n => n.Version).Where(v => v.Length != 0).Distinct().Order()];
        return versions.Length < 2
            ? null
            : Finding.Warning(
                "cluster's brokers",
                $"they have several versions: {string.Join(", ", versions)}",
                "Update one broker after the other until all have the same."
            );
    }

    private static Finding Partitions(ClusterInfo cluster)
    {
        const string Check = "cluster's partitions";
        PartitionLeaderInfo[] replicated = [.. cluster.Partitions.Where(p => p.Replicas > 1)],
            without = [.. cluster.Partitions.Where(p => string.IsNullOrEmpty(p.Node))];
        if (without.Length == 0)
        {
            return Finding.Ok(
                Check,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"each of {cluster.Partitions.Count} has a leader, {replicated.Length} have replicas"
                )
            );
        }
        PartitionLeaderInfo first = without[0];
        if (cluster.IsListening)
        {
            return Finding.Warning(
                Check,
                $"{cluster.AnsweredBy} has just begun to listen, and has not heard yet who leads "
                    + $"{first.Topic}/{first.Partition}",
                "Look again in some seconds."
            );
        }
        return Finding.Failed(
            Check,
            string.Create(
                CultureInfo.InvariantCulture,
                $"{without.Length} of {cluster.Partitions.Count} have no leader: {first.Topic}/{first.Partition}"
            ),
            first.Replicas > 1
                ? "If this lasts longer than some seconds, the nats-servers have no majority, or a broker's log says "
                    + $"why it cannot claim it (events 2026, 2105). {Page}"
                : $"The broker that has this topic alone is silent: start it again. {Page}"
        );
    }
}
