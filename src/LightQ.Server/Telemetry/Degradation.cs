using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Server.Audit;
using LightQ.Server.Security;

namespace LightQ.Server.Telemetry;

/// <summary>
/// What keeps a server that accepts work from doing all of it, in words that name no topic: every client that reaches
/// the web port can read them.
/// </summary>
internal sealed class Degradation(LightQBroker broker, AuditLog? audit, AccessControl access)
{
    /// <summary>
    /// With less than that, hardly anything can be made any more: a new topic's first segments need it.
    /// </summary>
    private const long FewBytes = 1 << 20;

    /// <summary>Whether the audit log waits for the disk; null when there is none.</summary>
    public bool? IsAuditFailing => audit?.IsFailing;

    /// <summary>Whether only admin may log in, because a repair of the catalog is not confirmed.</summary>
    public bool IsLimitedToAdmin => access.IsLimitedToAdmin;

    /// <summary>Whether the server does all of its work, in one line.</summary>
    public string Line() =>
        Reasons() is { Count: > 0 } reasons ? $"ready, degraded: {string.Join(", ", reasons)}" : "ready";

    /// <summary>What is not as it should be; empty when everything is.</summary>
    public IReadOnlyList<string> Reasons()
    {
        Topic[] topics = [.. broker.Topics];
        Topic[] failing = [.. topics.Where(t => t.Failure.Length != 0)];
        int failed = failing.Count(t => t.Partitions.All(p => p.Log.Failure is not null)),
            damaged = topics.Count(t => t.Damage.Any()),
            full = topics.Count(t => t.IsDiskFull);
        var reasons = new List<string>();
        if (failed != 0)
            reasons.Add($"{failed} of {topics.Length} topics have failed");
        if (failing.Length != failed)
            reasons.Add($"{failing.Length - failed} of {topics.Length} topics have failed partitions");
        if (damaged != 0)
            reasons.Add($"{damaged} of {topics.Length} topics have damaged messages");
        if (full != 0)
            reasons.Add($"for want of disk space {full} of {topics.Length} topics take no messages");
        else if (broker.FreeBytes < FewBytes)
            reasons.Add("the disk is full");
        if (broker.FailureOf(StoredState.Catalog) is not null)
        {
            reasons.Add(
                "the catalog cannot be stored: a restart may undo what was changed of topics, users and rights"
            );
        }

        if (broker.FailureOf(StoredState.ClusterCatalog) is not null)
        {
            reasons.Add(
                "the cluster's catalog cannot be read: topics, users and rights cannot be changed, and changes of "
                    + "other nodes are not seen"
            );
        }

        if (broker.Options.Replication is { } cluster)
            reasons.AddRange(cluster.Conditions.Summaries);
        if (broker.FailureOf(StoredState.Positions) is not null)
        {
            reasons.Add(
                "the positions of groups cannot be stored: what they settle is redelivered after an unclean stop"
            );
        }
        if (IsAuditFailing == true)
            reasons.Add("the audit log cannot be written");
        if (IsLimitedToAdmin)
            reasons.Add("the catalog was repaired and only admin may log in until it is confirmed");
        if (broker.Clock.Step is { } step)
            reasons.Add($"the machine's clock was set by {step.Text} and the broker goes by its own time");
        return reasons;
    }
}
