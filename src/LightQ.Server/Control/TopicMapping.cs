using System.Globalization;
using System.Text.Json;
using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Server.Messages;
using LightQ.Storage;
using Proto = LightQ.Protocol.Control;

namespace LightQ.Server.Control;

/// <summary>Topics and their settings between the wire and the engine. The one place that knows both.</summary>
/// <remarks>The enumerations have the same numbers on both sides; 0 means the default.</remarks>
internal static class TopicMapping
{
    /// <summary>Every field of TopicSettings, in the order of the .proto file.</summary>
    public static IReadOnlyList<TopicSettingField> Fields { get; } =
    [
        new(
            "kind",
            true,
            p => p.Kind != 0,
            (s, p) => s with { Kind = (TopicKind)Read(p.Kind, "kind") },
            s => Text(s.Kind)
        ),
        new(
            "partitions",
            true,
            p => p.Partitions != 0,
            (s, p) => s with { Partitions = p.Partitions },
            s => Text(s.Partitions)
        ),
        new(
            "ring_bytes",
            true,
            p => p.RingBytes != 0,
            (s, p) => s with { RingBytes = Read(p.RingBytes, TopicSettings.MaxRingBytes, "ring_bytes") },
            s => Text(s.RingBytes)
        ),
        new(
            "segment_bytes",
            true,
            p => p.SegmentBytes != 0,
            (s, p) => s with { SegmentBytes = Read(p.SegmentBytes, TopicSettings.MaxRingBytes, "segment_bytes") },
            s => Text(s.SegmentBytes)
        ),
        new(
            "retention_bytes",
            false,
            p => p.HasRetentionBytes,
            (s, p) => s with { RetentionBytes = Read(p.RetentionBytes, long.MaxValue, "retention_bytes") },
            s => Text(s.RetentionBytes)
        ),
        new(
            "retention_age",
            false,
            p => p.RetentionAge is not null,
            (s, p) => s with { RetentionAge = Read(p.RetentionAge, "retention_age") },
            s => s.RetentionAge.ToString("c")
        ),
        new(
            "ack_level",
            false,
            p => p.AckLevel != 0,
            (s, p) => s with { AckLevel = (Durability)Read(p.AckLevel, "ack_level") },
            s => Text(s.AckLevel)
        ),
        new(
            "read_level",
            true,
            p => p.ReadLevel != 0,
            (s, p) => s with { ReadLevel = (Durability)Read(p.ReadLevel, "read_level") },
            s => Text(s.ReadLevel)
        ),
        new(
            "max_message_bytes",
            true,
            p => p.MaxMessageBytes != 0,
            (s, p) =>
                s with
                {
                    MaxMessageBytes = (int)Read(p.MaxMessageBytes, TopicSettings.MaxMessageLimit, "max_message_bytes"),
                },
            s => Text(s.MaxMessageBytes)
        ),
        new(
            "slow_consumer_policy",
            false,
            p => p.SlowConsumerPolicy != 0,
            (s, p) => s with { SlowPolicy = (SlowPolicy)Read(p.SlowConsumerPolicy, "slow_consumer_policy") },
            s => JsonNamingPolicy.SnakeCaseLower.ConvertName(s.SlowPolicy.ToString())
        ),
        new(
            "lock_duration",
            false,
            p => p.LockDuration is not null,
            (s, p) => s with { Delivery = s.Delivery with { LockDuration = Read(p.LockDuration, "lock_duration") } },
            s => s.Delivery.LockDuration.ToString("c")
        ),
        new(
            "max_deliveries",
            false,
            p => p.HasMaxDeliveries,
            (s, p) =>
                s with
                {
                    Delivery = s.Delivery with
                    {
                        MaxDeliveries = (int)Read(p.MaxDeliveries, ushort.MaxValue, "max_deliveries"),
                    },
                },
            s => Text(s.Delivery.MaxDeliveries)
        ),
        new(
            "retry_delay",
            false,
            p => p.RetryDelay is not null,
            (s, p) => s with { Delivery = s.Delivery with { RetryDelay = Read(p.RetryDelay, "retry_delay") } },
            s => s.Delivery.RetryDelay.ToString("c")
        ),
        new(
            "max_retry_delay",
            false,
            p => p.MaxRetryDelay is not null,
            (s, p) =>
                s with
                {
                    Delivery = s.Delivery with { MaxRetryDelay = Read(p.MaxRetryDelay, "max_retry_delay") },
                },
            s => s.Delivery.MaxRetryDelay.ToString("c")
        ),
        new(
            "dead_letter_topic",
            false,
            p => p.DeadLetterTopic.Length != 0,
            (s, p) => s with { Delivery = s.Delivery with { DeadLetterTopic = p.DeadLetterTopic } },
            s => s.Delivery.DeadLetterTopic
        ),
        new(
            "retention",
            false,
            p => p.Retention != 0,
            (s, p) => s with { Retention = (Retention)Read(p.Retention, "retention") },
            s => Text(s.Retention)
        ),
        new(
            "dedup_window",
            false,
            p => p.DedupWindow is not null,
            (s, p) => s with { DedupWindow = Read(p.DedupWindow, "dedup_window") },
            s => s.DedupWindow.ToString("c")
        ),
        new(
            "dedup_max_ids",
            false,
            p => p.HasDedupMaxIds,
            (s, p) => s with { DedupMaxIds = (int)Read(p.DedupMaxIds, TopicSettings.MaxDedupIds, "dedup_max_ids") },
            s => Text(s.DedupMaxIds)
        ),
        new("replicas", true, p => p.Replicas != 0, (s, p) => s with { Replicas = p.Replicas }, s => Text(s.Replicas)),
        new(
            "shared_names",
            false,
            p => p.HasSharedNames,
            (s, p) => s with { SharedNames = p.SharedNames },
            s => s.SharedNames ? "true" : "false"
        ),
    ];

    /// <summary>What a request asks for, over <paramref name="current"/>; what it does not set stays.</summary>
    /// <exception cref="BrokerException">A value is outside its range.</exception>
    public static TopicSettings Apply(Proto.TopicSettings? requested, TopicSettings current) =>
        requested is null
            ? current
            : Fields
                .Where(f => f.IsSet(requested))
                .Aggregate(current, (settings, field) => field.Apply(settings, requested));

    /// <summary>
    /// What a request asks of a topic that it makes. One that does not say where its messages live is durable.
    /// </summary>
    /// <exception cref="BrokerException">A value is outside its range.</exception>
    public static TopicSettings OfNewTopic(Proto.TopicSettings? requested) =>
        Apply(requested, new TopicSettings { Kind = TopicKind.Durable });

    /// <summary>What differs, field by field.</summary>
    public static IEnumerable<(TopicSettingField Field, SettingChange Change)> Compare(
        TopicSettings before,
        TopicSettings after
    ) =>
        from field in Fields
        let change = new SettingChange(field.Name, field.Text(before), field.Text(after))
        where change.From != change.To
        select (field, change);

    /// <summary>A topic as it stands.</summary>
    public static Proto.Topic ToProto(Topic topic) =>
        new()
        {
            Name = topic.Name,
            Id = topic.Id.ToString("N"),
            Settings = ToProto(topic.Settings),
            CreateTime = topic.Created.ToTimestamp(),
            StartOffsets = { topic.Partitions.Select(p => p.Refusal is null ? p.Log.StartOffset : -1) },
            EndOffsets = { topic.Partitions.Select(p => p.Refusal is null ? p.Log.EndOffset : -1) },
            Failure = topic.Failure,
            RefusedPartitions = { topic.Partitions.Where(p => p.Refusal is not null).Select(ToRefused) },
            Damage = { topic.Damage.Select(d => ToProto(d.Partition, d.Damage)) },
        };

    private static Proto.RefusedPartition ToRefused(Partition partition) =>
        new()
        {
            Partition = partition.Index,
            ErrorCode = partition.Refusal!.Code.ToString(),
            Reason = partition.Refusal.Reason,
        };

    private static Proto.DamagedRange ToProto(uint partition, JournalDamage damage) =>
        new()
        {
            Partition = partition,
            FirstOffset = damage.FirstOffset,
            LastOffset = damage.LastOffset,
            File = damage.File,
            Bytes = (ulong)damage.Bytes,
            Detail = damage.Detail,
        };

    /// <summary>Settings with every default filled in.</summary>
    public static Proto.TopicSettings ToProto(TopicSettings settings) =>
        new()
        {
            Kind = (Proto.TopicKind)settings.Kind,
            Partitions = settings.Partitions,
            RingBytes = (ulong)settings.RingBytes,
            SegmentBytes = (ulong)settings.SegmentBytes,
            RetentionBytes = (ulong)settings.RetentionBytes,
            RetentionAge = settings.RetentionAge.ToDuration(),
            AckLevel = (Proto.DurabilityLevel)settings.AckLevel,
            ReadLevel = (Proto.DurabilityLevel)settings.ReadLevel,
            MaxMessageBytes = (ulong)settings.MaxMessageBytes,
            SlowConsumerPolicy = (Proto.SlowConsumerPolicy)settings.SlowPolicy,
            LockDuration = settings.Delivery.LockDuration.ToDuration(),
            MaxDeliveries = (uint)settings.Delivery.MaxDeliveries,
            RetryDelay = settings.Delivery.RetryDelay.ToDuration(),
            MaxRetryDelay = settings.Delivery.MaxRetryDelay.ToDuration(),
            DeadLetterTopic = settings.Delivery.DeadLetterTopic,
            Retention = (Proto.Retention)settings.Retention,
            DedupWindow = settings.DedupWindow.ToDuration(),
            DedupMaxIds = (uint)settings.DedupMaxIds,
            Replicas = settings.Replicas,
            SharedNames = settings.SharedNames,
        };

    /// <summary>Checked before it becomes the engine's enumeration, which may be narrower.</summary>
    private static T Read<T>(T value, string name)
        where T : struct, System.Enum =>
        System.Enum.IsDefined(value)
            ? value
            : throw Refuse(name, value, string.Join(", ", System.Enum.GetNames<T>()[1..]).ToLowerInvariant());

    private static long Read(ulong value, long limit, string name) =>
        value <= (ulong)limit ? (long)value : throw Refuse(name, value, $"at most {limit}");

    private static TimeSpan Read(Duration value, string name) =>
        RequestTimes.Read(value, name, TimeSpan.MinValue, TimeSpan.MaxValue, "a normal protobuf duration");

    private static BrokerException Refuse(string name, object value, string allowed) =>
        new(ErrorCode.InvalidArgument, $"{name} is {value}; allowed: {allowed}.");

    private static string Text<T>(T value)
        where T : struct, IFormattable =>
        value is System.Enum
            ? value.ToString()!.ToLowerInvariant()
            : value.ToString(null, CultureInfo.InvariantCulture);
}
