using Google.Protobuf.WellKnownTypes;
using LightQ.Broker.Groups;
using Proto = LightQ.Protocol.Control;

namespace LightQ.Server.Control;

/// <summary>Groups on their way to the wire.</summary>
internal static class GroupMapping
{
    public static Proto.Group ToProto(GroupSummary group) =>
        new()
        {
            Topic = group.Topic.Name,
            Group_ = group.Name,
            SettleMode =
                group.SettleMode == SettleMode.Explicit
                    ? Proto.GroupSettleMode.Explicit
                    : Proto.GroupSettleMode.Automatic,
            Paused = group.IsPaused,
            MembersCount = (uint)group.Members,
            Lag = (ulong)group.Lag,
            ClientsCount = (uint)group.Clients.Count,
            OldestUnsettledAge = group.OldestUnsettled?.ToDuration(),
            InFlight = (ulong)group.InFlight,
            Delivered = (ulong)group.Counts.Delivered,
            Redelivered = (ulong)group.Counts.Redelivered,
            DeadLettered = (ulong)group.Counts.DeadLettered,
        };

    /// <summary>A group with its partitions and clients.</summary>
    /// <param name="group">The group.</param>
    /// <param name="find">Finds a connection; null for none, and for a caller that may not know of it.</param>
    public static Proto.Group Describe(GroupSummary group, Func<uint, Proto.Connection?> find)
    {
        Proto.Group description = ToProto(group);
        description.Partitions.AddRange(group.Partitions.Select(ToProto));
        description.Clients.AddRange(group.Clients.Select(c => ToProto(group, c, find(c))));
        return description;
    }

    private static Proto.GroupClient ToProto(GroupSummary group, uint connection, Proto.Connection? known)
    {
        (uint Partition, MemberFigures Member)[] members =
        [
            .. group.Partitions.SelectMany(p =>
                p.Members.Where(m => m.Connection == connection).Select(m => (p.Partition, m))
            ),
        ];
        return new Proto.GroupClient
        {
            ConnectionId = connection,
            ClientName = known?.ClientName ?? "",
            RemoteAddress = known?.RemoteAddress ?? "",
            MembersCount = (uint)members.Length,
            Partitions = { members.Where(m => m.Member.IsAssigned).Select(m => m.Partition).Distinct() },
            InFlight = (ulong)members.Sum(m => m.Member.InFlight),
        };
    }

    public static Proto.GroupReason ToProto(GroupReason reason)
    {
        var proto = new Proto.GroupReason
        {
            Hold = (Proto.GroupHold)reason.Hold,
            Partition = reason.Partition,
            Until = reason.Until?.ToTimestamp(),
            Text = reason.Text,
        };
        if (reason.Connection is { } connection)
            proto.ConnectionId = connection;
        return proto;
    }

    private static Proto.GroupPartition ToProto(GroupFigures figures) =>
        new()
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
                    ConnectionId = m.Connection,
                    Stream = m.Stream,
                    InFlight = (ulong)m.InFlight,
                    MaxInFlight = m.MaxInFlight,
                    CreditBytes = m.Credit,
                    Assigned = m.IsAssigned,
                }),
            },
        };
}
