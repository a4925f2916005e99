using System.Collections.Concurrent;
using LightQ.Broker.Cluster;
using LightQ.Broker.Topics;

namespace LightQ.ClusterTests.Members;

/// <summary>What a node reported, one line each.</summary>
internal sealed class RecordedEvents : IClusterEvents
{
    public ConcurrentQueue<string> Lines { get; } = new();

    public void OnJoined(Member member) => Lines.Enqueue($"joined {member.Name}");

    public void OnGone(Member member) =>
        Lines.Enqueue(member.State == MemberState.Left ? $"left {member.Name}" : $"silent {member.Name}");

    public void OnNameTaken(string node, bool isKept) => Lines.Enqueue(isKept ? "name kept" : "name taken");

    public void OnLeads(Partition partition, uint epoch) => Lines.Enqueue($"leads {partition.Index} in {epoch}");

    public void OnPrepares(Partition partition, string node, long left) =>
        Lines.Enqueue($"{node} reads for {partition.Index}");

    public void OnPassedOver(Partition partition, string node, string reason) =>
        Lines.Enqueue($"passed {node} over for {partition.Index}: {reason}");

    public void OnUnprepared(Partition partition, string node, string reason) =>
        Lines.Enqueue($"unprepared {partition.Index} to {node}: {reason}");

    public void OnWrongMark(Partition partition, ulong sequence) =>
        Lines.Enqueue($"wrong mark of {partition.Index} at {sequence}");

    public void OnCondition(ClusterCondition condition, bool isOver) =>
        Lines.Enqueue($"{(isOver ? "over" : "condition")} {condition.Kind} {condition.Subject}");

    public void OnRemoved(string what, string why) => Lines.Enqueue($"removed {what}: {why}");

    public void OnHandedOver(Partition partition, string to, TimeSpan took) =>
        Lines.Enqueue($"handed {partition.Index} to {to}");
}
