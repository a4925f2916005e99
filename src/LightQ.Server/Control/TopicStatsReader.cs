using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Telemetry;
using Partition = LightQ.Broker.Topics.Partition;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>
/// Reads the statistics of one topic, or of one of its partitions, again and again; the rates are over the time since
/// the reading before.
/// </summary>
/// <param name="broker">The broker.</param>
/// <param name="topic">The topic.</param>
/// <param name="partition">The partition; null for the whole topic.</param>
/// <param name="sees">Whether the caller may know of a topic.</param>
/// <param name="time">The clock.</param>
internal sealed class TopicStatsReader(
    LightQBroker broker,
    Topic topic,
    Partition? partition,
    Func<string, bool> sees,
    TimeProvider time
)
{
    private TopicFigures _last;
    private long _lastRead;

    public TopicStats Read() =>
        Read(partition is null ? TopicBacklog.Of(broker, [topic], sees)[topic] : TopicBacklog.Of(broker, partition));

    /// <summary>Reads the rest, where what the groups make of the topic is known.</summary>
    public TopicStats Read(in TopicBacklog backlog)
    {
        var figures = partition is null ? TopicFigures.Of(topic) : TopicFigures.Of(partition);
        long now = time.GetTimestamp();
        double seconds = _lastRead == 0 ? 0 : time.GetElapsedTime(_lastRead, now).TotalSeconds;
        var stats = new TopicStats
        {
            Topic = topic.Name,
            Time = time.GetUtcNow().ToTimestamp(),
            MessagesReceived = figures.MessagesReceived,
            MessagesSent = figures.MessagesSent,
            MessagesSettled = figures.MessagesSettled,
            PublishersCount = figures.Publishers,
            SubscribersCount = figures.Subscribers,
            QueueSize = figures.QueueSize,
            TotalBytesWritten = figures.BytesWritten,
            TotalBytesRead = figures.BytesRead,
            ReceiveRate = Rate(_last.MessagesReceived, figures.MessagesReceived, seconds),
            SendRate = Rate(_last.MessagesSent, figures.MessagesSent, seconds),
            StartOffset = figures.StartOffset,
            EndOffset = figures.EndOffset,
            DurableOffset = figures.DurableOffset,
            Gaps = figures.Gaps,
            Drops = figures.Drops,
            StoredBytes = figures.StoredBytes,
            DelayedMessages = figures.DelayedMessages,
            GroupsCount = (uint)backlog.Groups,
            WorstGroup = backlog.WorstGroup,
            WorstGroupLag = (ulong)backlog.WorstLag,
            RememberedIds = figures.RememberedIds,
            Duplicates = figures.Duplicates,
            ForgottenIds = figures.ForgottenIds,
        };
        if (backlog.DeadLetters is { } letters)
            stats.DeadLetters = (ulong)letters;
        if (partition is null && broker.Groups.FindRetentionHold(topic) is (var hold, var messages))
            (stats.RetentionGroup, stats.RetentionMessages) = (hold.Group, (ulong)messages);
        if (partition is not null)
            stats.Partition = partition.Index;
        (_last, _lastRead) = (figures, now);
        return stats;
    }

    private static double Rate(ulong before, ulong after, double seconds) =>
        seconds > 0 ? (after - before) / seconds : 0;
}
