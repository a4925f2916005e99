using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Texts;

/// <summary>The settings of a topic in words.</summary>
internal static class TopicFacts
{
    /// <summary>Names and values, in the order in which they are shown.</summary>
    public static IEnumerable<(string Name, string Value)> Of(Topic topic)
    {
        TopicSettings s = topic.Settings;
        yield return ("Id", topic.Id);
        yield return ("Created", Figure.Clock(topic.CreateTime));
        yield return ("Kind", s.Kind == TopicKind.Transient ? "transient: in memory" : "durable: in a journal on disk");
        yield return ("Partitions", Figure.Whole(s.Partitions));
        yield return ("Largest message", Figure.Bytes(s.MaxMessageBytes));
        yield return ("Ring", Figure.Bytes(s.RingBytes));
        yield return ("Acknowledged when", Level(s.AckLevel));
        if (s.Kind == TopicKind.Transient)
        {
            yield return ("Slow subscribers", s.SlowConsumerPolicy.ToString());
            yield break;
        }

        yield return ("Delivered when", Level(s.ReadLevel));
        yield return ("Replicas", s.Replicas > 1 ? Figure.Whole(s.Replicas) : "none");
        yield return ("Segments", Figure.Bytes(s.SegmentBytes));
        yield return ("Keeps messages for", Limit(s.RetentionAge, "ever"));
        yield return (
            "Keeps at most",
            s.RetentionBytes == 0
                ? "no limit: the topic sets none"
                : Figure.Bytes(s.RetentionBytes) + " of each partition"
        );
        yield return (
            "Keeps until",
            s.Retention == Retention.Settled ? "all groups have settled them" : "a limit says otherwise"
        );
        yield return ("A delivery is locked for", Limit(s.LockDuration, "–"));
        yield return (
            "Deliveries before dead-lettering",
            s.MaxDeliveries == 0 ? "without end" : Figure.Whole(s.MaxDeliveries)
        );
        yield return (
            "Retries after",
            $"{Limit(s.RetryDelay, "0 s")}, each time twice as long, at most {Limit(s.MaxRetryDelay, "0 s")}"
        );
        yield return ("Dead letters go to", s.DeadLetterTopic.Length == 0 ? topic.Name + ".dead" : s.DeadLetterTopic);
        yield return ("Remembers message ids for", Limit(s.DedupWindow, "no time"));
    }

    private static string Limit(Duration? span, string none) =>
        span is null || span.ToTimeSpan() == TimeSpan.Zero ? none : TimeText.Write(span);

    private static string Level(DurabilityLevel level) =>
        level switch
        {
            DurabilityLevel.Memory => "in the broker's memory",
            DurabilityLevel.Written => "written to the operating system",
            DurabilityLevel.Fsync => "synced to the disk",
            DurabilityLevel.Replicated => "a majority of the replicas has it",
            _ => "as the kind says",
        };
}
