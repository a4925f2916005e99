namespace LightQ.Client.Administration;

/// <summary>A message as a topic holds it.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="Offset">Its offset in the partition.</param>
/// <param name="Body">The body, or the part of it that <see cref="BrowseOptions"/> asked for.</param>
/// <param name="BodySize">The length of the whole body, in bytes.</param>
/// <param name="AppendTime">When the broker appended it.</param>
public sealed record StoredMessage(
    int Partition,
    long Offset,
    ReadOnlyMemory<byte> Body,
    long BodySize,
    DateTimeOffset AppendTime
)
{
    /// <summary>Where it is.</summary>
    public MessagePosition Position => new(Partition, Offset);

    /// <summary>The key; null when there is none. It may be empty.</summary>
    public ReadOnlyMemory<byte>? Key { get; init; }

    /// <summary>The headers, in order.</summary>
    public IReadOnlyList<KeyValuePair<string, ReadOnlyMemory<byte>>> Headers { get; init; } = [];

    /// <summary>The length of key, headers and body together, as the topic's limit counts it.</summary>
    public long Size { get; init; }

    /// <summary>Whether it says that the key's last value was deleted.</summary>
    public bool IsTombstone { get; init; }

    /// <summary>
    /// When the producer published it, by the producer's clock; null for a time before 1970 or after 9999.
    /// </summary>
    public DateTimeOffset? PublishTime { get; init; }

    /// <summary>The id that it was published with; null for none.</summary>
    public string? MessageId { get; init; }

    /// <summary>What consumers get of it.</summary>
    public StoredMessageState State { get; init; }

    /// <summary>When a delayed message is, or was, due; null for others.</summary>
    public DateTimeOffset? DeliverAt { get; init; }

    /// <summary>When its time to live is over; null when it has none.</summary>
    public DateTimeOffset? ExpiresAt { get; init; }

    /// <summary>
    /// Of the delivery of a delayed message, and of a copy that the broker made of one: the offset that it was
    /// published at; null for others.
    /// </summary>
    public long? DelayedOffset { get; init; }
}
