using System.Numerics;
using LightQ.Protocol;

namespace LightQ.Broker.Topics;

/// <summary>Everything that can be set on a topic, defaults filled in.</summary>
public sealed record TopicSettings
{
    /// <summary>Smallest and largest ring, in bytes.</summary>
    public const int MinRingBytes = 64 * 1024,
        MaxRingBytes = 1 << 30;

    /// <summary>Largest message limit, in bytes.</summary>
    public const int MaxMessageLimit = 64 * 1024 * 1024;

    /// <summary>Most ids that a partition can be told to remember, and how many it does without being told.</summary>
    public const int MaxDedupIds = 10_000_000,
        DefaultDedupIds = 100_000;

    /// <summary>
    /// Shortest and longest time for which ids are remembered. A start reads the headers of as much of the log.
    /// </summary>
    public static readonly TimeSpan MinDedupWindow = TimeSpan.FromSeconds(1),
        MaxDedupWindow = TimeSpan.FromDays(7);

    /// <summary>Where messages live. Default: transient.</summary>
    public TopicKind Kind { get; init; } = TopicKind.Transient;

    /// <summary>How many partitions, 1 to 1024. Default 1.</summary>
    public uint Partitions { get; init; } = 1;

    /// <summary>
    /// How many nodes keep a copy of a durable topic, 3 or 5; 0, the default, and 1, which reads as 0, for the broker's
    /// own disk alone. Producers are then acknowledged, and consumers delivered to, at
    /// <see cref="Durability.Replicated"/> only.
    /// </summary>
    public uint Replicas
    {
        get;
        init => field = value == 1 ? 0 : value;
    }

    /// <summary>Size of the ring in bytes, a power of two. Default 8 MiB, or what four batches need.</summary>
    public long RingBytes { get; init; }

    /// <summary>Size of a full-grown segment in bytes. Default 64 MiB, or what four batches need.</summary>
    public long SegmentBytes { get; init; }

    /// <summary>Keep at most this many bytes, in whole segments; 0 is no limit.</summary>
    public long RetentionBytes { get; init; }

    /// <summary>Keep messages at least this long; zero is for ever.</summary>
    public TimeSpan RetentionAge { get; init; }

    /// <summary>
    /// How long messages are kept beside that: until a limit says otherwise, or until all groups have settled them.
    /// </summary>
    public Retention Retention { get; init; }

    /// <summary>The ack level of producers that ask for the default.</summary>
    public Durability AckLevel { get; init; }

    /// <summary>How safe a batch must be before consumers see it.</summary>
    public Durability ReadLevel { get; init; }

    /// <summary>Largest message in bytes. Default 1 MiB.</summary>
    public int MaxMessageBytes { get; init; } = ProtocolLimits.DefaultMessageBytes;

    /// <summary>The policy of subscriptions that ask for the default.</summary>
    public SlowPolicy SlowPolicy { get; init; } = SlowPolicy.Block;

    /// <summary>How groups with explicit settlement are delivered to.</summary>
    public DeliverySettings Delivery { get; init; } = new();

    /// <summary>
    /// How long the ids of messages are remembered, so that none is stored twice; zero, the default, is not at all.
    /// </summary>
    public TimeSpan DedupWindow { get; init; }

    /// <summary>How many ids a partition remembers at most. Default 100,000.</summary>
    public int DedupMaxIds { get; init; }

    /// <summary>
    /// Whether names of producers and ids of messages are the same whichever user publishes, instead of each user's
    /// own.
    /// </summary>
    public bool SharedNames { get; init; }

    /// <summary>Whether it has replicas.</summary>
    public bool IsReplicated => Replicas > 1;

    /// <summary>Whether messages are kept for ever.</summary>
    public bool IsUnlimited =>
        Kind == TopicKind.Durable
        && RetentionBytes == 0
        && RetentionAge == TimeSpan.Zero
        && Retention != Retention.Settled;

    /// <summary>Largest batch in bytes, header included.</summary>
    public int MaxBatchBytes => MaxMessageBytes + ProtocolLimits.BatchOverheadBytes;

    /// <summary>These settings with every default filled in.</summary>
    /// <exception cref="BrokerException">
    /// A value is outside its range, with <see cref="ErrorCode.InvalidArgument"/>.
    /// </exception>
    public TopicSettings Complete()
    {
        bool durable = Kind == TopicKind.Durable;
        Check(Kind is TopicKind.Transient or TopicKind.Durable, "kind", Kind, "transient or durable");
        Check(
            MaxMessageBytes is >= 1024 and <= MaxMessageLimit,
            "max_message_bytes",
            MaxMessageBytes,
            $"1024 to {MaxMessageLimit}"
        );
        Check(
            Partitions is >= 1 and <= ProtocolLimits.MaxPartitions,
            "partitions",
            Partitions,
            $"1 to {ProtocolLimits.MaxPartitions}"
        );
        Check(Replicas is 0 or 3 or 5, "replicas", Replicas, "0 or 1 (none), 3 or 5");
        Check(durable || Replicas == 0, "replicas", Replicas, "0 or 1 (none), for a transient topic");
        long fourBatches = 4L * MaxBatchBytes;
        long ring = (long)
            BitOperations.RoundUpToPowerOf2((ulong)(RingBytes != 0 ? RingBytes : Math.Max(8 << 20, fourBatches)));
        Check(
            ring is >= MinRingBytes and <= MaxRingBytes && ring >= fourBatches,
            "ring_bytes",
            RingBytes,
            $"{Math.Max(MinRingBytes, fourBatches)} (four batches of the topic's limit) to {MaxRingBytes}"
        );
        long segment = SegmentBytes != 0 ? SegmentBytes : Math.Max(64 << 20, fourBatches);
        Check(
            !durable || (segment >= fourBatches && segment <= MaxRingBytes),
            "segment_bytes",
            SegmentBytes,
            $"{fourBatches} (four batches of the topic's limit) to {MaxRingBytes}"
        );
        Check(RetentionBytes >= 0, "retention_bytes", RetentionBytes, "0 or more");
        Check(RetentionAge >= TimeSpan.Zero, "retention_age", RetentionAge, "0 or more");
        Check(durable || Retention != Retention.Settled, "retention", "settled", "keep, for a transient topic");
        (Durability ack, Durability read) = CompleteLevels();
        CheckDelivery();
        Check(
            DedupWindow == TimeSpan.Zero || (DedupWindow >= MinDedupWindow && DedupWindow <= MaxDedupWindow),
            "dedup_window",
            DedupWindow,
            "0 (none), or 1 s to 7 days"
        );
        Check(
            DedupMaxIds is >= 0 and <= MaxDedupIds,
            "dedup_max_ids",
            DedupMaxIds,
            $"1 to {MaxDedupIds}; 0 for {DefaultDedupIds}"
        );
        return this with
        {
            RingBytes = ring,
            SegmentBytes = durable ? segment : 0,
            Retention = Retention == Retention.Default ? Retention.Keep : Retention,
            AckLevel = ack,
            DedupMaxIds = DedupMaxIds == 0 ? DefaultDedupIds : DedupMaxIds,
            ReadLevel = read,
            SlowPolicy = SlowPolicy == SlowPolicy.TopicDefault ? SlowPolicy.Block : SlowPolicy,
        };
    }

    /// <summary>The same with another number of replicas, and the levels that go with it.</summary>
    /// <exception cref="BrokerException">There cannot be so many: <see cref="ErrorCode.InvalidArgument"/>.</exception>
    internal TopicSettings WithReplicas(uint replicas) =>
        (this with { Replicas = replicas, AckLevel = Durability.Default, ReadLevel = Durability.Default }).Complete();

    /// <summary>Refuses what only a cluster can have.</summary>
    /// <exception cref="BrokerException">There is none: <see cref="ErrorCode.NotSupported"/>.</exception>
    internal void DemandCluster(bool isThere)
    {
        if (Replicas == 0 || isThere)
            return;
        throw new BrokerException(
            ErrorCode.NotSupported,
            $"replicas {Replicas} needs a cluster: set Cluster:Engine, see docs/operate/cluster.md."
        );
    }

    /// <summary>The level of acks, and the one at which consumers see a batch.</summary>
    private (Durability Ack, Durability Read) CompleteLevels()
    {
        if (Replicas != 0)
            return (Durability.Replicated, Durability.Replicated); // Lower ones that are asked for are answered by it.
        bool durable = Kind == TopicKind.Durable;
        Durability usual = durable ? Durability.Fsync : Durability.Memory;
        Durability ack = AckLevel != Durability.Default ? AckLevel : usual;
        Check(
            durable ? ack <= Durability.Fsync : ack == Durability.Memory,
            "ack_level",
            ack,
            durable ? "memory, written or fsync, for a topic without replicas" : "memory, for a transient topic"
        );
        Durability read = ReadLevel != Durability.Default ? ReadLevel : usual;
        Check(
            durable ? read is Durability.Written or Durability.Fsync : read == Durability.Memory,
            "read_level",
            read,
            durable ? "written or fsync, for a durable topic" : "memory, for a transient topic"
        );
        return (ack, read);
    }

    private void CheckDelivery()
    {
        Check(
            Delivery.LockDuration.TotalMilliseconds
                is >= ProtocolLimits.MinLockMilliseconds
                    and <= ProtocolLimits.MaxLockMilliseconds,
            "lock_duration",
            Delivery.LockDuration,
            "1 s to 12 h"
        );
        Check(
            Delivery.MaxDeliveries is >= 0 and <= ushort.MaxValue,
            "max_deliveries",
            Delivery.MaxDeliveries,
            $"0 (without end) to {ushort.MaxValue}"
        );
        Check(
            Delivery.RetryDelay >= TimeSpan.Zero && Delivery.RetryDelay <= TimeSpan.FromHours(1),
            "retry_delay",
            Delivery.RetryDelay,
            "0 to 1 h"
        );
        Check(
            Delivery.MaxRetryDelay >= Delivery.RetryDelay && Delivery.MaxRetryDelay <= TimeSpan.FromHours(24),
            "max_retry_delay",
            Delivery.MaxRetryDelay,
            "retry_delay to 24 h"
        );
        Check(
            Delivery.DeadLetterTopic.Length == 0 || TopicName.IsValid(Delivery.DeadLetterTopic),
            "dead_letter_topic",
            TopicName.Printable(Delivery.DeadLetterTopic),
            TopicName.Rule
        );
    }

    private static void Check<T>(bool holds, string setting, T value, string allowed)
    {
        if (!holds)
            throw new BrokerException(ErrorCode.InvalidArgument, $"{setting} is {value}; allowed: {allowed}.");
    }
}
