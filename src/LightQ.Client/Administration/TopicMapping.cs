using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using WireTopicKind = LightQ.Protocol.Control.TopicKind;

namespace LightQ.Client.Administration;

/// <summary>Between the SDK's topic types and the control plane's messages.</summary>
internal static class TopicMapping
{
    public static TopicSettings ToSettings(TopicSpec spec) => new()
    {
        Kind = (WireTopicKind)spec.Kind,
        Partitions = (uint)spec.Partitions,
        RingBytes = (ulong)spec.RingBytes,
        SegmentBytes = (ulong)spec.SegmentBytes,
        RetentionBytes = (ulong)spec.RetentionBytes,
        RetentionAge = spec.RetentionAge == TimeSpan.Zero ? null : Duration.FromTimeSpan(spec.RetentionAge),
        AckLevel = (DurabilityLevel)spec.AckLevel,
        ReadLevel = (DurabilityLevel)spec.ReadLevel,
        MaxMessageBytes = (ulong)spec.MaxMessageBytes,
        SlowConsumerPolicy = (SlowConsumerPolicy)spec.SlowPolicy,
    };

    public static TopicInfo ToInfo(Topic topic)
    {
        TopicSettings settings = topic.Settings ?? new TopicSettings();
        var spec = new TopicSpec(topic.Name)
        {
            Kind = (LightQ.Client.TopicKind)settings.Kind,
            Partitions = (int)settings.Partitions,
            RingBytes = (long)settings.RingBytes,
            SegmentBytes = (long)settings.SegmentBytes,
            RetentionBytes = (long)settings.RetentionBytes,
            RetentionAge = settings.RetentionAge?.ToTimeSpan() ?? TimeSpan.Zero,
            AckLevel = (Durability)settings.AckLevel,
            ReadLevel = (Durability)settings.ReadLevel,
            MaxMessageBytes = (long)settings.MaxMessageBytes,
            SlowPolicy = (SlowPolicy)settings.SlowConsumerPolicy,
        };
        return new TopicInfo(spec, topic.Id, ToTime(topic.CreateTime), [.. topic.StartOffsets], [.. topic.EndOffsets], topic.Failure);
    }

    public static DateTimeOffset ToTime(Timestamp? time) => time?.ToDateTimeOffset() ?? default;
}
