namespace LightQ.Client.Administration;

/// <summary>A dead letter of a group.</summary>
/// <param name="Offset">Its offset in the dead-letter topic, which names it in requests.</param>
/// <param name="Partition">The original's partition.</param>
/// <param name="OriginalOffset">The original's offset there.</param>
/// <param name="Reason">Why the message was dead-lettered.</param>
/// <param name="Deliveries">How often it had been delivered.</param>
public sealed record DeadLetterInfo(long Offset, int Partition, long OriginalOffset, string Reason, int Deliveries)
{
    /// <summary>When it was dead-lettered; null when the letter does not say so.</summary>
    public DateTimeOffset? Time { get; init; }

    /// <summary>Whether it is settled: redriven or deleted.</summary>
    public bool IsSettled { get; init; }

    /// <summary>
    /// Whether the topic still holds the original. Without it, the letter can be republished and not redriven.
    /// </summary>
    public bool HasOriginal { get; init; }

    /// <summary>The message's key; null when there is none. It may be empty.</summary>
    public ReadOnlyMemory<byte>? Key { get; init; }

    /// <summary>The message's own headers, in order, without those that the broker has added.</summary>
    public IReadOnlyList<KeyValuePair<string, ReadOnlyMemory<byte>>> Headers { get; init; } = [];

    /// <summary>The body, or the part of it that <see cref="LetterListOptions"/> asked for.</summary>
    public ReadOnlyMemory<byte> Body { get; init; }

    /// <summary>The length of the whole body, in bytes.</summary>
    public long BodySize { get; init; }

    /// <summary>Whether the message says that the key's last value was deleted.</summary>
    public bool IsTombstone { get; init; }

    /// <summary>What there is of the message.</summary>
    public LetterContent Content { get; init; }
}
