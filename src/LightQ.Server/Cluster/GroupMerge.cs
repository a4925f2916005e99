using LightQ.Protocol.Control;

namespace LightQ.Server.Cluster;

/// <summary>One answer about groups of what several nodes know of them.</summary>
internal static class GroupMerge
{
    public static ListGroupsResponse List(ListGroupsRequest _, IReadOnlyList<NodePart<ListGroupsResponse>> parts) =>
        new()
        {
            Groups =
            {
                parts
                    .SelectMany(p => p.Response.Groups)
                    .GroupBy(g => (g.Topic, g.Group_))
                    .OrderBy(g => g.Key.Topic, StringComparer.Ordinal)
                    .ThenBy(g => g.Key.Group_, StringComparer.Ordinal)
                    .Select(g => Merge([.. g])),
            },
        };

    public static DescribeGroupResponse Describe(
        DescribeGroupRequest _,
        IReadOnlyList<NodePart<DescribeGroupResponse>> parts
    ) => new() { Group = Merge([.. parts.Select(p => p.Response.Group)]) };

    public static ExplainGroupResponse Explain(
        ExplainGroupRequest _,
        IReadOnlyList<NodePart<ExplainGroupResponse>> parts
    ) => new() { Reasons = { parts.SelectMany(p => p.Response.Reasons).OrderBy(r => r.Partition) } };

    /// <summary>The offsets by partition: a node has one for each of its own on which the group was used.</summary>
    public static ResetGroupResponse Reset(ResetGroupRequest _, IReadOnlyList<NodePart<ResetGroupResponse>> parts) =>
        new()
        {
            Offsets =
            {
                parts
                    .SelectMany(p => p.Response.Offsets.Zip(p.Partitions))
                    .OrderBy(offset => offset.Second)
                    .Select(offset => offset.First),
            },
        };

    public static RedriveGroupResponse Redrive(
        RedriveGroupRequest _,
        IReadOnlyList<NodePart<RedriveGroupResponse>> parts
    ) =>
        new()
        {
            Redriven = (ulong)parts.Sum(p => (long)p.Response.Redriven),
            Skipped = (ulong)parts.Sum(p => (long)p.Response.Skipped),
        };

    private static Group Merge(Group[] parts)
    {
        Group merged = parts[0].Clone();
        foreach (Group part in parts[1..])
        {
            merged.Paused |= part.Paused;
            merged.MembersCount += part.MembersCount;
            merged.Lag += part.Lag;
            merged.ClientsCount += part.ClientsCount;
            merged.InFlight += part.InFlight;
            merged.Delivered += part.Delivered;
            merged.Redelivered += part.Redelivered;
            merged.DeadLettered += part.DeadLettered;
            merged.Partitions.AddRange(part.Partitions);
            merged.Clients.AddRange(part.Clients);
        }
        // One that is not known may be older than all others.
        merged.OldestUnsettledAge = Array.Exists(parts, p => p.OldestUnsettledAge is null)
            ? null
            : parts.MaxBy(p => p.OldestUnsettledAge.ToTimeSpan())!.OldestUnsettledAge;
        GroupPartition[] ordered = [.. merged.Partitions.OrderBy(p => p.Partition)];
        merged.Partitions.Clear();
        merged.Partitions.AddRange(ordered);
        return merged;
    }
}
