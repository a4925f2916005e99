using System.Globalization;
using LightQ.Broker.Topics;

namespace LightQ.Server.Telemetry;

/// <summary>The figures of topics and of the partitions of topics with several.</summary>
internal static class TopicFigureList
{
    private const string Messages = "{message}",
        Bytes = "By";

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Figure> All { get; } =
    [.. Counters(), .. Gauges(), .. OfPartitions(), .. States(), DeadLetters(), .. Retention()];

    private static Figure[] Counters() =>
        [
            Each("messages.received", FigureKind.Counter, Messages, "Messages appended.", f => f.MessagesReceived),
            Each(
                "messages.sent",
                FigureKind.Counter,
                Messages,
                "Messages sent to subscribers, each copy counted.",
                f => f.MessagesSent
            ),
            Each(
                "messages.settled",
                FigureKind.Counter,
                Messages,
                "Messages settled by subscribers with explicit settlement, each copy counted.",
                f => f.MessagesSettled
            ),
            Each("received", FigureKind.Counter, Bytes, "Bytes of batches appended.", f => f.BytesWritten),
            Each("sent", FigureKind.Counter, Bytes, "Bytes of batches sent to subscribers.", f => f.BytesRead),
            Each("gaps", FigureKind.Counter, "{gap}", "Gaps sent to subscribers.", f => f.Gaps),
            Each(
                "dropped_messages",
                FigureKind.Counter,
                Messages,
                "Messages lost to subscribers that were too slow.",
                f => f.Drops
            ),
            Each(
                "duplicates",
                FigureKind.Counter,
                Messages,
                "Messages that were not stored, because their ids were remembered.",
                f => f.Duplicates
            ),
            Each(
                "forgotten_ids",
                FigureKind.Counter,
                "{id}",
                "Ids of messages that were forgotten before the window was over, because so many others came.",
                f => f.ForgottenIds
            ),
        ];

    private static Figure[] Gauges() =>
        [
            Each("producers", FigureKind.UpDownCounter, "{producer}", "Open producer streams.", f => f.Publishers),
            Each(
                "subscriptions",
                FigureKind.UpDownCounter,
                "{subscription}",
                "Open subscriptions, group members included.",
                f => f.Subscribers
            ),
            Each(
                "lag_messages",
                FigureKind.Gauge,
                Messages,
                "Messages that the slowest open subscription has not been sent; 0 with none, whatever waits for "
                    + "groups: see lightq_group_lag_messages.",
                f => f.QueueSize
            ),
            Each(
                "delayed_messages",
                FigureKind.UpDownCounter,
                Messages,
                "Messages that were published with a due time and are not due yet.",
                f => f.DelayedMessages
            ),
            Each(
                "remembered_ids",
                FigureKind.UpDownCounter,
                "{id}",
                "Ids of messages that are remembered.",
                f => f.RememberedIds
            ),
            Each(
                "stored",
                FigureKind.UpDownCounter,
                Bytes,
                "Bytes the topic occupies in memory or on disk.",
                f => f.StoredBytes
            ),
            Each(
                "start_offset",
                FigureKind.Gauge,
                "",
                "The first offset held; of several partitions, the sum.",
                f => f.StartOffset
            ),
            Each(
                "end_offset",
                FigureKind.Gauge,
                "",
                "One behind the last offset appended; of several partitions, the sum.",
                f => f.EndOffset
            ),
            Each(
                "durable_offset",
                FigureKind.Gauge,
                "",
                "One behind the last offset that survives a power cut; of several partitions, the sum.",
                f => f.DurableOffset
            ),
        ];

    private static Figure[] OfPartitions() =>
        [
            Part(
                "start_offset",
                "The first offset that a partition holds, of topics with several.",
                p => p.Refusal is null ? p.Log.StartOffset : null
            ),
            Part(
                "end_offset",
                "One behind the last offset appended to a partition, of topics with several.",
                p => p.Refusal is null ? p.Log.EndOffset : null
            ),
            Part(
                "durable_offset",
                "One behind the last offset of a partition that survives a power cut, of topics with several.",
                p => p.Refusal is null ? p.Log.DurableOffset : null
            ),
            Part(
                "failed",
                "1 for a partition that takes no messages because its journal failed or could not be opened, of "
                    + "topics with several.",
                p => p.Log.Failure is null || p.Refusal?.Node.Length > 0 ? 0 : 1
            ),
        ];

    /// <summary>What is wrong with topics.</summary>
    private static Figure[] States() =>
        [
            State(
                "failed",
                "",
                "1 for a topic that takes no messages, or not on each of its partitions, because a journal failed.",
                t => t.Failure.Length == 0 ? 0 : 1
            ),
            State(
                "disk_full",
                "",
                "1 for a topic that takes no messages for want of space.",
                t => t.IsDiskFull ? 1 : 0
            ),
            State(
                "damaged_ranges",
                "{range}",
                "Ranges of offsets that were found damaged since the broker started, and are not past retention.",
                t => t.Damage.Count()
            ),
            State("damaged", Bytes, "Bytes of these ranges.", t => t.Damage.Sum(d => d.Damage.Bytes)),
        ];

    private static Figure DeadLetters() =>
        new(
            "lightq.topic.dead_letters",
            FigureKind.Gauge,
            Messages,
            "Messages that the dead-letter topic of a topic holds; absent for callers that may not see that topic.",
            r =>
                from t in r.Topics
                let letters = TopicBacklog.DeadLettersOf(r.Source.Broker, t.Topic, r.Sees)
                where letters is not null
                select new FigureSample((double)letters, t.Topic.Name),
            "topic"
        );

    /// <summary>
    /// Topics without a limit, and the group that holds most of what waits for all groups: at most one sample a topic.
    /// </summary>
    private static Figure[] Retention() =>
        [
            new(
                "lightq.topic.unlimited",
                FigureKind.Gauge,
                "",
                "1 for a durable topic that keeps messages for ever: it grows as long as it is published to.",
                r =>
                    from t in r.Topics
                    where t.Topic.Settings.Kind == TopicKind.Durable
                    select new FigureSample(t.Topic.Settings.IsUnlimited ? 1 : 0, t.Topic.Name),
                "topic"
            ),
            new(
                "lightq.topic.retention_messages",
                FigureKind.Gauge,
                Messages,
                "Messages of a topic with retention until all groups have settled, kept for the group that keeps "
                    + "most; no group where there is none.",
                r =>
                    r.Topics.SelectMany(t =>
                        r.Source.Broker.Groups.FindRetentionHold(t.Topic) is (var hold, var messages)
                            ? new[] { new FigureSample(messages, t.Topic.Name, hold.Group) }
                            : []
                    ),
                "topic",
                "group"
            ),
        ];

    private static Figure Each(
        string name,
        FigureKind kind,
        string unit,
        string help,
        Func<TopicFigures, double> value
    ) =>
        new(
            "lightq.topic." + name,
            kind,
            unit,
            help,
            r => r.Topics.Select(t => new FigureSample(value(t.Figures), t.Topic.Name)),
            "topic"
        );

    private static Figure State(string name, string unit, string help, Func<Topic, double> value) =>
        new(
            "lightq.topic." + name,
            FigureKind.Gauge,
            unit,
            help,
            r => r.Topics.Select(t => new FigureSample(value(t.Topic), t.Topic.Name)),
            "topic"
        );

    private static Figure Part(string name, string help, Func<Partition, double?> value) =>
        new(
            "lightq.partition." + name,
            FigureKind.Gauge,
            "",
            help,
            r =>
                from p in r.Partitions
                let known = value(p)
                where known is not null
                select new FigureSample(known.Value, p.Topic.Name, p.Index.ToString(CultureInfo.InvariantCulture)),
            "topic",
            "partition"
        );
}
