using LightQ.Broker.Cluster;
using LightQ.Broker.Topics;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>Logs who comes and goes in the cluster, and which partitions this node gets and gives.</summary>
internal sealed class ClusterLog(ILogger logger) : IClusterEvents
{
    /// <inheritdoc/>
    public void OnJoined(Member member) =>
        ServerLog.NodeJoined(logger, member.Name, member.DataAddress, member.Version);

    /// <inheritdoc/>
    public void OnGone(Member member)
    {
        if (member.State == MemberState.Left)
            ServerLog.NodeLeft(logger, member.Name);
        else
            ServerLog.NodeSilent(logger, member.Name, (long)member.Silence.TotalMilliseconds);
    }

    /// <inheritdoc/>
    public void OnNameTaken(string node, bool isKept)
    {
        if (isKept)
            ServerLog.NameTaken(logger, node);
        else
            ServerLog.NameInUse(logger, node);
    }

    /// <inheritdoc/>
    public void OnLeads(Partition partition, uint epoch) =>
        ServerLog.PartitionLed(logger, partition.Topic.Name, partition.Index, epoch);

    /// <inheritdoc/>
    public void OnPrepares(Partition partition, string node, long left) =>
        ServerLog.PartitionPrepared(logger, node, left, partition.Index, partition.Topic.Name);

    /// <inheritdoc/>
    public void OnPassedOver(Partition partition, string node, string reason) =>
        ServerLog.NodePassedOver(logger, node, partition.Index, partition.Topic.Name, reason);

    /// <inheritdoc/>
    public void OnUnprepared(Partition partition, string node, string reason) =>
        ServerLog.NodeUnprepared(logger, partition.Index, partition.Topic.Name, node, reason);

    /// <inheritdoc/>
    public void OnWrongMark(Partition partition, ulong sequence) =>
        ServerLog.WrongMark(logger, partition.Index, partition.Topic.Name, sequence);

    /// <inheritdoc/>
    public void OnCondition(ClusterCondition condition, bool isOver)
    {
        if (isOver)
            ServerLog.ConditionOver(logger, condition.Kind, condition.Subject);
        else if (condition.IsFailure)
            ServerLog.ConditionFailed(logger, condition.Kind, condition.Subject, condition.Detail, condition.Remedy);
        else
            ServerLog.ConditionSeen(logger, condition.Kind, condition.Subject, condition.Detail, condition.Remedy);
    }

    /// <inheritdoc/>
    public void OnRemoved(string what, string why) => ServerLog.Removed(logger, what, why);

    /// <inheritdoc/>
    public void OnHandedOver(Partition partition, string to, TimeSpan took) =>
        ServerLog.PartitionHandedOver(logger, partition.Topic.Name, partition.Index, to, (long)took.TotalMilliseconds);
}
