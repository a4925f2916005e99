namespace LightQ.Client.Administration;

/// <summary>A topic's figures at one moment. Counts are since the broker's start.</summary>
public sealed record TopicStats
{
    /// <summary>The topic's name.</summary>
    public required string Topic { get; init; }

    /// <summary>The partition that the figures belong to; null for the whole topic with all its partitions.</summary>
    public int? Partition { get; init; }

    /// <summary>When the figures were read.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>Messages appended.</summary>
    public long MessagesReceived { get; init; }

    /// <summary>Messages sent to subscribers, each copy counted.</summary>
    public long MessagesSent { get; init; }

    /// <summary>Messages settled by subscribers with <see cref="SettleMode.Explicit"/>, each copy counted.</summary>
    public long MessagesSettled { get; init; }

    /// <summary>Open producers.</summary>
    public int PublishersCount { get; init; }

    /// <summary>Open subscriptions, group members included.</summary>
    public int SubscribersCount { get; init; }

    /// <summary>
    /// Messages appended and not yet sent to the slowest open subscription; 0 without a subscription. The lag of a
    /// group without members is in <see cref="WorstGroupLag"/>.
    /// </summary>
    public long QueueSize { get; init; }

    /// <summary>Bytes of batches appended.</summary>
    public long TotalBytesWritten { get; init; }

    /// <summary>Bytes of batches sent to subscribers.</summary>
    public long TotalBytesRead { get; init; }

    /// <summary>Messages appended a second since the previous reading; 0 in a single reading.</summary>
    public double ReceiveRate { get; init; }

    /// <summary>Messages sent a second since the previous reading; 0 in a single reading.</summary>
    public double SendRate { get; init; }

    /// <summary>The first offset that the topic holds; for several partitions, the sum.</summary>
    public long StartOffset { get; init; }

    /// <summary>The offset after the last that was appended; for several partitions, the sum.</summary>
    public long EndOffset { get; init; }

    /// <summary>
    /// The offset after the last that survives a power cut; 0 for a transient topic. For several partitions, the sum.
    /// </summary>
    public long DurableOffset { get; init; }

    /// <summary>Gaps sent to subscribers.</summary>
    public long Gaps { get; init; }

    /// <summary>Messages that subscribers lost because they were too slow.</summary>
    public long Drops { get; init; }

    /// <summary>Messages that were published with a due time and are not due yet.</summary>
    public long DelayedMessages { get; init; }

    /// <summary>Number of groups, those without members included.</summary>
    public int GroupsCount { get; init; }

    /// <summary>The group with the largest lag; empty when no group lags.</summary>
    public string WorstGroup { get; init; } = "";

    /// <summary>Its lag, as <see cref="GroupInfo.Lag"/> counts it.</summary>
    public long WorstGroupLag { get; init; }

    /// <summary>
    /// Messages that the topic's dead-letter topic holds; null for a single partition, and for a caller without a
    /// right on that topic.
    /// </summary>
    public long? DeadLetters { get; init; }

    /// <summary>
    /// For a topic with <see cref="Retention.Settled"/>: the group that holds most messages, because it has not settled
    /// them or because of its dead letters that were not redriven. Null when all groups have settled everything or
    /// there is no group, for other topics, and for a single partition.
    /// </summary>
    public string? RetentionGroup { get; init; }

    /// <summary>
    /// How many messages that group holds; without a group, all that the topic has. 0 for other topics and for a single
    /// partition.
    /// </summary>
    public long RetentionMessages { get; init; }

    /// <summary>Message ids that the broker remembers, so that no message is stored twice.</summary>
    public long RememberedIds { get; init; }

    /// <summary>Messages that were not stored, because the broker remembered their ids.</summary>
    public long Duplicates { get; init; }

    /// <summary>
    /// Message ids that the broker forgot before the topic's window was over, because more came than
    /// <see cref="TopicSpec.DedupMaxIds"/> allows: a duplicate of them is stored.
    /// </summary>
    public long ForgottenIds { get; init; }

    /// <summary>Bytes that the topic occupies, in its ring or on disk.</summary>
    public long StoredBytes { get; init; }
}
