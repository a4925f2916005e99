using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;
using WireRetention = LightQ.Protocol.Control.Retention;
using WireTopicKind = LightQ.Protocol.Control.TopicKind;

namespace LightQ.Client.Administration;

/// <summary>Between the SDK's topic types and the control plane's messages.</summary>
internal static class TopicMapping
{
    public static TopicSettings ToSettings(TopicSpec spec)
    {
        var settings = new TopicSettings
        {
            Kind = (WireTopicKind)spec.Kind,
            Partitions = (uint)spec.Partitions,
            Replicas = (uint)spec.Replicas,
            RingBytes = (ulong)spec.RingBytes,
            SegmentBytes = (ulong)spec.SegmentBytes,
            RetentionAge = ToDuration(spec.RetentionAge),
            AckLevel = (DurabilityLevel)spec.AckLevel,
            ReadLevel = (DurabilityLevel)spec.ReadLevel,
            MaxMessageBytes = (ulong)spec.MaxMessageBytes,
            SlowConsumerPolicy = (SlowConsumerPolicy)spec.SlowPolicy,
            LockDuration = ToDuration(spec.LockDuration),
            RetryDelay = ToDuration(spec.RetryDelay),
            MaxRetryDelay = ToDuration(spec.MaxRetryDelay),
            DeadLetterTopic = spec.DeadLetterTopic ?? "",
            Retention = (WireRetention)spec.Retention,
            DedupWindow = ToDuration(spec.DedupWindow),
        };
        if (spec.MaxDeliveries is { } deliveries)
            settings.MaxDeliveries = (uint)deliveries;
        if (spec.DedupMaxIds is { } ids)
            settings.DedupMaxIds = (uint)ids;
        if (spec.SharedNames is { } shared)
            settings.SharedNames = shared;
        if (spec.RetentionBytes is { } bytes)
            settings.RetentionBytes = (ulong)bytes;
        return settings;
    }

    public static TopicInfo ToInfo(Topic topic)
    {
        TopicSettings settings = topic.Settings ?? new TopicSettings();
        var spec = new TopicSpec(topic.Name)
        {
            Kind = (LightQ.Client.TopicKind)settings.Kind,
            Partitions = (int)settings.Partitions,
            Replicas = (int)settings.Replicas,
            RingBytes = (long)settings.RingBytes,
            SegmentBytes = (long)settings.SegmentBytes,
            RetentionBytes = (long)settings.RetentionBytes,
            RetentionAge = settings.RetentionAge?.ToTimeSpan() ?? TimeSpan.Zero,
            AckLevel = (Durability)settings.AckLevel,
            ReadLevel = (Durability)settings.ReadLevel,
            MaxMessageBytes = (long)settings.MaxMessageBytes,
            SlowPolicy = (SlowPolicy)settings.SlowConsumerPolicy,
            LockDuration = settings.LockDuration?.ToTimeSpan(),
            MaxDeliveries = (int)settings.MaxDeliveries,
            RetryDelay = settings.RetryDelay?.ToTimeSpan(),
            MaxRetryDelay = settings.MaxRetryDelay?.ToTimeSpan(),
            DeadLetterTopic = settings.DeadLetterTopic.Length == 0 ? null : settings.DeadLetterTopic,
            Retention = (Retention)settings.Retention,
            DedupWindow = settings.DedupWindow?.ToTimeSpan() ?? TimeSpan.Zero,
            DedupMaxIds = (int)settings.DedupMaxIds,
            SharedNames = settings.SharedNames,
        };
        return new TopicInfo(
            spec,
            topic.Id,
            ToTime(topic.CreateTime),
            [.. topic.StartOffsets],
            [.. topic.EndOffsets],
            topic.Failure
        )
        {
            Damage =
            [
                .. topic.Damage.Select(d => new DamagedRange(
                    d.FirstOffset,
                    d.LastOffset,
                    d.File,
                    (long)d.Bytes,
                    d.Detail,
                    (int)d.Partition
                )),
            ],
            RefusedPartitions = [.. topic.RefusedPartitions.Select(ToRefused)],
        };
    }

    private static RefusedPartition ToRefused(LightQ.Protocol.Control.RefusedPartition partition) =>
        new(
            (int)partition.Partition,
            System.Enum.TryParse(partition.ErrorCode, out ErrorCode code) ? code : ErrorCode.TopicFailed,
            partition.Reason
        );

    private static Duration? ToDuration(TimeSpan? time) => time is { } span ? Duration.FromTimeSpan(span) : null;

    public static DateTimeOffset ToTime(Timestamp? time) => time?.ToDateTimeOffset() ?? default;
}
