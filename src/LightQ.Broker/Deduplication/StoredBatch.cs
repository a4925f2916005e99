namespace LightQ.Broker.Deduplication;

/// <summary>What is stored of a batch that is published again.</summary>
/// <param name="Offset">Where it is, or the message with its id; -1 when that is not known any more.</param>
/// <param name="IsDuplicate">Whether it is another message with the same id.</param>
/// <param name="Refusal">Why it was refused alone, so that nothing of it is stored.</param>
internal readonly record struct StoredBatch(long Offset, bool IsDuplicate, ErrorCode Refusal = ErrorCode.None)
{
    /// <summary>Nothing is.</summary>
    public static StoredBatch None => new(-1, false);

    /// <summary>Whether the batch has an outcome already, so that it is not to be appended.</summary>
    public bool IsAny => Offset >= 0 || IsDuplicate || Refusal != ErrorCode.None;

    /// <summary>It was refused.</summary>
    public static StoredBatch Refused(ErrorCode code) => new(-1, false, code);
}
