namespace LightQ.Client.Administration;

/// <summary>A topic's figures at one moment. Counts are since the broker's start.</summary>
public sealed record TopicStats
{
    /// <summary>The topic's name.</summary>
    public required string Topic { get; init; }

    /// <summary>The partition that they are of; null for the whole topic, over its partitions.</summary>
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
    /// Messages appended and not yet sent to the slowest open subscription; 0 without any. What a group without members
    /// lags is in <see cref="WorstGroupLag"/>.
    /// </summary>
    public long QueueSize { get; init; }

    /// <summary>Bytes of batches appended.</summary>
    public long TotalBytesWritten { get; init; }

    /// <summary>Bytes of batches sent to subscribers.</summary>
    public long TotalBytesRead { get; init; }

    /// <summary>Messages appended a second since the reading before; 0 in a single reading.</summary>
    public double ReceiveRate { get; init; }

    /// <summary>Messages sent a second since the reading before; 0 in a single reading.</summary>
    public double SendRate { get; init; }

    /// <summary>The first offset held; of several partitions, the sum.</summary>
    public long StartOffset { get; init; }

    /// <summary>One behind the last offset appended; of several partitions, the sum.</summary>
    public long EndOffset { get; init; }

    /// <summary>
    /// One behind the last offset that survives a power cut; 0 for a transient topic. Of several partitions, the sum.
    /// </summary>
    public long DurableOffset { get; init; }

    /// <summary>Gaps sent to subscribers.</summary>
    public long Gaps { get; init; }

    /// <summary>Messages that subscribers lost because they were too slow.</summary>
    public long Drops { get; init; }

    /// <summary>Messages that were published with a due time and are not due yet.</summary>
    public long DelayedMessages { get; init; }

    /// <summary>Groups, those without members included.</summary>
    public int GroupsCount { get; init; }

    /// <summary>The group with the largest lag; empty when none lags.</summary>
    public string WorstGroup { get; init; } = "";

    /// <summary>Its lag, as <see cref="GroupInfo.Lag"/> counts it.</summary>
    public long WorstGroupLag { get; init; }

    /// <summary>
    /// Messages that the topic's dead-letter topic holds; null for one partition, and for who has no right on that
    /// topic.
    /// </summary>
    public long? DeadLetters { get; init; }

    /// <summary>
    /// Of a topic with <see cref="Retention.Settled"/>: the group that keeps most, by what it has not settled or by its
    /// dead letters that were not driven back. Null when all have settled everything, when there is no group, for other
    /// topics and for a single partition.
    /// </summary>
    public string? RetentionGroup { get; init; }

    /// <summary>
    /// How many messages that group keeps; without a group, all that there are. 0 for other topics and for a single
    /// partition.
    /// </summary>
    public long RetentionMessages { get; init; }

    /// <summary>Ids of messages that are remembered, so that none is stored twice.</summary>
    public long RememberedIds { get; init; }

    /// <summary>Messages that were not stored, because their ids were remembered.</summary>
    public long Duplicates { get; init; }

    /// <summary>Bytes the topic occupies, in its ring or on disk.</summary>
    public long StoredBytes { get; init; }
}
