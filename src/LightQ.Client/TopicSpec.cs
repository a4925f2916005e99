using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>The wanted settings of a topic. Immutable; the broker chooses what is left at its default.</summary>
public sealed record TopicSpec
{
    /// <summary>Creates a specification with all defaults.</summary>
    /// <param name="name">
    /// 1 to 200 characters: a letter or digit, then letters, digits, '.', '_' or '-', without "..". Case-sensitive.
    /// </param>
    public TopicSpec(string name) => Name = name;

    /// <summary>The topic's name.</summary>
    public string Name
    {
        get;
        init
        {
            ArgumentNullException.ThrowIfNull(value);
            field = TopicName.IsValid(value)
                ? value
                : throw new ArgumentException($"'{value}' is not a topic's name: {TopicName.Rule}.", nameof(value));
        }
    }

    /// <summary>
    /// Where its messages are kept. Cannot be changed later. Default: a new topic is durable, so that messages are lost
    /// only if its creator chose so, and <c>EnsureAsync</c> leaves an existing one
    /// as it is.
    /// </summary>
    public TopicKind Kind { get; init; }

    /// <summary>
    /// How many partitions it has. Cannot be changed later. 1 to 1,024; default 0: the broker's choice, which is 1.
    /// Each partition has its own ring, segments and retention.
    /// </summary>
    public int Partitions
    {
        get;
        init =>
            field = value is >= 0 and <= ProtocolLimits.MaxPartitions
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(value),
                    value,
                    $"A topic has 1 to {ProtocolLimits.MaxPartitions} partitions; 0 leaves it to the broker."
                );
    }

    /// <summary>
    /// Durable topics of a cluster: how many nodes of its replicated log keep a copy, 3 or 5. Cannot be changed later.
    /// Messages are then acknowledged, and delivered, at <see cref="Durability.Replicated"/> only. Default 0, and 1:
    /// the broker alone keeps them.
    /// </summary>
    public int Replicas
    {
        get;
        init =>
            field = value is 0 or 1 or 3 or 5
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(value),
                    value,
                    "A topic has 3 or 5 replicas, or with 0 or 1 none."
                );
    }

    /// <summary>
    /// Size of the ring of each partition, in bytes, rounded up to a power of two. Cannot be changed later. Default 0:
    /// the broker's choice.
    /// </summary>
    public long RingBytes
    {
        get;
        init => field = NotNegative(value);
    }

    /// <summary>
    /// Durable topics: size of a full-grown segment file in bytes. Cannot be changed later. Default 0: the broker's
    /// choice.
    /// </summary>
    public long SegmentBytes
    {
        get;
        init => field = NotNegative(value);
    }

    /// <summary>
    /// Durable topics: keep at most this many bytes; 0 means no limit. Default null: no limit for a new topic, and
    /// <c>EnsureAsync</c> leaves an existing one as it is.
    /// </summary>
    public long? RetentionBytes
    {
        get;
        init => field = value is { } bytes ? NotNegative(bytes) : null;
    }

    /// <summary>
    /// Durable topics: keep messages at least this long after the broker appended them; zero means for ever. Default
    /// null: for ever for a new topic, and <c>EnsureAsync</c> leaves an existing one
    /// as it is.
    /// </summary>
    public TimeSpan? RetentionAge
    {
        get;
        init =>
            field =
                value is null || value >= TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(value), value, "The age must not be negative.");
    }

    /// <summary>
    /// Durable topics: how long messages are kept beside <see cref="RetentionBytes"/> and <see cref="RetentionAge"/>,
    /// whichever removes first. Default: <see cref="Retention.Keep"/> for a new topic, and
    /// <c>EnsureAsync</c> leaves an existing one as it is.
    /// </summary>
    public Retention Retention { get; init; }

    /// <summary>The ack level of producers that ask for the default.</summary>
    public Durability AckLevel { get; init; }

    /// <summary>
    /// Durable topics: how safe a message must be before consumers see it. Cannot be changed later. Default: fsync, or
    /// with <see cref="Replicas"/> replicated.
    /// </summary>
    public Durability ReadLevel { get; init; }

    /// <summary>
    /// Largest message (key, headers and body together), in bytes. Cannot be changed later. Default 0: the broker's
    /// choice, 1 MiB.
    /// </summary>
    public long MaxMessageBytes
    {
        get;
        init => field = NotNegative(value);
    }

    /// <summary>What happens to subscriptions that are slower than the topic and ask for the default.</summary>
    public SlowPolicy SlowPolicy { get; init; }

    /// <summary>
    /// Durable topics: how long delivered messages are locked for one member of a group, with explicit settlement.
    /// Default null: the broker's choice, 30 s; 1 s to 12 h.
    /// </summary>
    public TimeSpan? LockDuration
    {
        get;
        init => field = NotNegative(value);
    }

    /// <summary>
    /// Durable topics: how often a message is delivered to a group before it is dead-lettered; 0 means without limit.
    /// Default null: the broker's choice, 10.
    /// </summary>
    public int? MaxDeliveries
    {
        get;
        init => field = value is { } deliveries ? (int)NotNegative(deliveries) : null;
    }

    /// <summary>
    /// Durable topics: the time until a message that was abandoned, or whose lock expired, is redelivered for the first
    /// time. The time doubles with each redelivery. Default null: the broker's choice, 1 s; 0 to 1 h.
    /// </summary>
    public TimeSpan? RetryDelay
    {
        get;
        init => field = NotNegative(value);
    }

    /// <summary>
    /// Durable topics: the longest time until such a message is redelivered. Default null: the broker's choice, 1 min;
    /// <see cref="RetryDelay"/> to 24 h.
    /// </summary>
    public TimeSpan? MaxRetryDelay
    {
        get;
        init => field = NotNegative(value);
    }

    /// <summary>
    /// Durable topics: the topic to which dead-lettered messages are copied; created when it is needed. Default null:
    /// the topic's name and <c>.dead</c>.
    /// </summary>
    public string? DeadLetterTopic
    {
        get;
        init =>
            field =
                value is null || TopicName.IsValid(value)
                    ? value
                    : throw new ArgumentException($"'{value}' is not a topic's name: {TopicName.Rule}.", nameof(value));
    }

    /// <summary>
    /// How long each partition remembers the ids of messages. A message that is published again with the same
    /// <see cref="PublishOptions.MessageId"/> is not stored again. Zero means not at all. Default null: not at all for
    /// a new topic, and <c>EnsureAsync</c> leaves an existing one as it is; 1 s to 7
    /// days.
    /// </summary>
    public TimeSpan? DedupWindow
    {
        get;
        init => field = NotNegative(value);
    }

    /// <summary>
    /// The most ids that a partition remembers; beyond that the oldest are forgotten, even within the window. Each
    /// takes up to 48 bytes of the broker's memory. Default null: the broker's choice, 100,000; at most 10,000,000.
    /// </summary>
    public int? DedupMaxIds
    {
        get;
        init => field = value is { } ids ? (int)NotNegative(ids) : null;
    }

    /// <summary>
    /// Whether producer names and message ids are the same whichever user publishes. False means that a name belongs to
    /// the user that made it, and that no user's id makes a message of another one a duplicate. Default null: false for
    /// a new topic, and <c>EnsureAsync</c> leaves an existing one as it is.
    /// </summary>
    public bool? SharedNames { get; init; }

    private static TimeSpan? NotNegative(TimeSpan? value) =>
        value is null || value >= TimeSpan.Zero
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "The time must not be negative.");

    private static long NotNegative(long value) =>
        value >= 0
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "The value must not be negative.");
}
