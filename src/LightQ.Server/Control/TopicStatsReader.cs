using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;
using Partition = LightQ.Broker.Topics.Partition;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Reads the statistics of one topic, or of one of its partitions, again and again; the rates are over the time since the reading before.</summary>
internal sealed class TopicStatsReader(Topic topic, Partition? partition, TimeProvider time)
{
    private TopicFigures _last;
    private long _lastRead;

    public TopicStats Read()
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
        };
        if (partition is not null)
            stats.Partition = partition.Index;
        (_last, _lastRead) = (figures, now);
        return stats;
    }

    private static double Rate(ulong before, ulong after, double seconds) => seconds > 0 ? (after - before) / seconds : 0;
}
