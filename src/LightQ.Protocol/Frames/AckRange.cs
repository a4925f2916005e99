namespace LightQ.Protocol.Frames;

/// <summary>One entry of a PublishAck: the outcome of a range of a producer's messages.</summary>
/// <param name="FirstSequence">The producer's number of the first message.</param>
/// <param name="Count">How many messages.</param>
/// <param name="Error"><see cref="ErrorCode.None"/> when they are stored.</param>
/// <param name="BaseOffset">
/// Offset of the first message; the others follow without gaps. For a duplicate, the offset of the stored message. -1
/// on an error, or when the broker no longer knows that offset.
/// </param>
/// <param name="IsDuplicate">
/// Whether they were not stored, because messages with the same ids are already stored.
/// </param>
/// <param name="IsAlone">Whether the error is that of these messages alone: the stream goes on behind them.</param>
/// <param name="IsUnchecked">
/// Whether they have ids that the topic does not look at: it has no deduplication window.
/// </param>
public readonly record struct AckRange(
    ulong FirstSequence,
    uint Count,
    ErrorCode Error,
    long BaseOffset,
    bool IsDuplicate = false,
    bool IsAlone = false,
    bool IsUnchecked = false
)
{
    /// <summary>Bytes of an entry.</summary>
    public const int Size = 24;

    /// <summary>Whether <paramref name="next"/> continues this range in sequence, outcome and offset.</summary>
    public bool IsContinuedBy(in AckRange next) =>
        next.Error == Error
        && next.IsDuplicate == IsDuplicate
        && next.IsAlone == IsAlone
        && next.IsUnchecked == IsUnchecked
        && next.FirstSequence == FirstSequence + Count
        && (Error != ErrorCode.None || next.BaseOffset == BaseOffset + Count)
        && (ulong)Count + next.Count <= uint.MaxValue;
}
