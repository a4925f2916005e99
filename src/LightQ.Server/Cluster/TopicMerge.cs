using LightQ.Protocol.Control;

namespace LightQ.Server.Cluster;

/// <summary>One answer about topics of what several nodes know of them.</summary>
internal static class TopicMerge
{
    public static GetTopicResponse Get(GetTopicRequest _, IReadOnlyList<NodePart<GetTopicResponse>> parts) =>
        new() { Topic = Merge([.. parts.Select(p => (p.Partitions, p.Response.Topic))]) };

    public static ListTopicsResponse List(ListTopicsRequest _, IReadOnlyList<NodePart<ListTopicsResponse>> parts) =>
        new()
        {
            Topics =
            {
                parts
                    .SelectMany(p => p.Response.Topics)
                    .GroupBy(t => (t.Name, t.Id))
                    .OrderBy(t => t.Key.Name, StringComparer.Ordinal)
                    .Select(t => Merge([.. t.Select(topic => (ServedBy(topic), topic))])),
            },
            NextPageToken = NextOf(parts.Select(p => p.Response.NextPageToken)),
        };

    public static GetTopicStatsResponse Stats(
        GetTopicStatsRequest _,
        IReadOnlyList<NodePart<GetTopicStatsResponse>> parts
    ) => new() { Stats = Merge([.. parts.Select(p => p.Response.Stats)]) };

    public static ListTopicStatsResponse ListStats(
        ListTopicStatsRequest _,
        IReadOnlyList<NodePart<ListTopicStatsResponse>> parts
    ) =>
        new()
        {
            Stats =
            {
                parts
                    .SelectMany(p => p.Response.Stats)
                    .GroupBy(s => s.Topic)
                    .OrderBy(s => s.Key, StringComparer.Ordinal)
                    .Select(s => Merge([.. s])),
            },
            NextPageToken = NextOf(parts.Select(p => p.Response.NextPageToken)),
        };

    public static ListSubscriptionsResponse Subscriptions(
        ListSubscriptionsRequest _,
        IReadOnlyList<NodePart<ListSubscriptionsResponse>> parts
    ) => new() { Subscriptions = { parts.SelectMany(p => p.Response.Subscriptions) } };

    /// <summary>
    /// Pages are of the topics that all nodes know; the next one begins where the first of them has ended.
    /// </summary>
    private static string NextOf(IEnumerable<string> tokens) =>
        tokens.Where(t => t.Length != 0).Order(StringComparer.Ordinal).FirstOrDefault("");

    private static uint[] ServedBy(Topic topic) =>
        [
            .. Enumerable
                .Range(0, topic.StartOffsets.Count)
                .Select(i => (uint)i)
                .Where(i => topic.RefusedPartitions.All(refused => refused.Partition != i)),
        ];

    private static Topic Merge((IReadOnlyList<uint> Partitions, Topic Topic)[] parts)
    {
        Topic merged = parts[0].Topic.Clone();
        merged.Failure = "";
        merged.Damage.Clear();
        foreach ((IReadOnlyList<uint> partitions, Topic topic) in parts)
        {
            foreach (int partition in partitions.Select(p => (int)p))
            {
                merged.StartOffsets[partition] = topic.StartOffsets[partition];
                merged.EndOffsets[partition] = topic.EndOffsets[partition];
                if (merged.RefusedPartitions.FirstOrDefault(r => r.Partition == partition) is { } refused)
                    merged.RefusedPartitions.Remove(refused);
                // What the node that leads it says of it counts.
                merged.RefusedPartitions.AddRange(topic.RefusedPartitions.Where(r => r.Partition == partition));
            }
            merged.Damage.AddRange(topic.Damage);
            merged.Failure = merged.Failure.Length == 0 ? topic.Failure : merged.Failure;
        }
        return merged;
    }

    private static TopicStats Merge(TopicStats[] parts)
    {
        TopicStats merged = parts[0].Clone();
        foreach (TopicStats part in parts[1..])
        {
            merged.MessagesReceived += part.MessagesReceived;
            merged.MessagesSent += part.MessagesSent;
            merged.MessagesSettled += part.MessagesSettled;
            merged.PublishersCount += part.PublishersCount;
            merged.SubscribersCount += part.SubscribersCount;
            merged.QueueSize += part.QueueSize;
            merged.TotalBytesWritten += part.TotalBytesWritten;
            merged.TotalBytesRead += part.TotalBytesRead;
            merged.ReceiveRate += part.ReceiveRate;
            merged.SendRate += part.SendRate;
            merged.StartOffset += part.StartOffset;
            merged.EndOffset += part.EndOffset;
            merged.DurableOffset += part.DurableOffset;
            merged.Gaps += part.Gaps;
            merged.Drops += part.Drops;
            merged.StoredBytes += part.StoredBytes;
            merged.DelayedMessages += part.DelayedMessages;
            merged.RememberedIds += part.RememberedIds;
            merged.Duplicates += part.Duplicates;
            merged.ForgottenIds += part.ForgottenIds;
            merged.GroupsCount = Math.Max(merged.GroupsCount, part.GroupsCount);
            if (part.HasDeadLetters)
                merged.DeadLetters = part.DeadLetters + (merged.HasDeadLetters ? merged.DeadLetters : 0);
            if (part.RetentionMessages > merged.RetentionMessages)
                (merged.RetentionGroup, merged.RetentionMessages) = (part.RetentionGroup, part.RetentionMessages);
            if (part.Time.ToDateTimeOffset() > merged.Time.ToDateTimeOffset())
                merged.Time = part.Time;
        }
        // The group that lags most: of each node, the one that lags most there.
        (string Group, long Lag)[] lags =
        [
            .. parts
                .Where(p => p.WorstGroup.Length != 0)
                .GroupBy(p => p.WorstGroup)
                .Select(g => (g.Key, g.Sum(p => (long)p.WorstGroupLag))),
        ];
        if (lags.Length != 0)
        {
            (string group, long lag) = lags.MaxBy(g => g.Lag);
            (merged.WorstGroup, merged.WorstGroupLag) = (group, (ulong)lag);
        }
        return merged;
    }
}
