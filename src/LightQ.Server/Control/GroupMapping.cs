using Google.Protobuf.WellKnownTypes;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using Proto = LightQ.Protocol.Control;

namespace LightQ.Server.Control;

/// <summary>Groups on their way to the wire.</summary>
internal static class GroupMapping
{
    public static Proto.Group ToProto(Topic topic, string name, IReadOnlyList<Group> groups, bool withPartitions)
    {
        GroupFigures[] figures = [.. groups.Select(g => g.Figures())];
        return new Proto.Group
        {
            Topic = topic.Name,
            Group_ = name,
            SettleMode = groups[0].SettleMode == SettleMode.Explicit ? Proto.GroupSettleMode.Explicit : Proto.GroupSettleMode.Automatic,
            Paused = groups.Any(g => g.IsPaused),
            MembersCount = (uint)figures.Sum(f => f.Members.Count),
            Lag = (ulong)figures.Sum(f => f.Lag),
            Partitions = { withPartitions ? figures.Select(ToProto) : [] },
        };
    }

    public static Proto.GroupReason ToProto(GroupReason reason)
    {
        var proto = new Proto.GroupReason { Hold = (Proto.GroupHold)reason.Hold, Partition = reason.Partition, Until = reason.Until?.ToTimestamp(), Text = reason.Text };
        if (reason.Connection is { } connection)
            proto.ConnectionId = connection;
        return proto;
    }

    private static Proto.GroupPartition ToProto(GroupFigures figures) => new()
    {
        Partition = figures.Partition,
        CommittedOffset = figures.Committed,
        NextOffset = figures.Next,
        EndOffset = figures.End,
        InFlight = (ulong)figures.InFlight,
        RedeliveriesReady = (uint)figures.RedeliveriesReady,
        RedeliveriesDelayed = (uint)figures.RedeliveriesDelayed,
        NextRedeliveryTime = figures.NextRedelivery?.ToTimestamp(),
        FirstLockEndTime = figures.FirstLockEnd?.ToTimestamp(),
        DeadLettersWaiting = (uint)figures.DeadLettersWaiting,
        Members =
        {
            figures.Members.Select(m => new Proto.GroupMember
            {
                ConnectionId = m.Connection, Stream = m.Stream, InFlight = (ulong)m.InFlight, MaxInFlight = m.MaxInFlight, CreditBytes = m.Credit, Assigned = m.IsAssigned,
            }),
        },
    };
}
