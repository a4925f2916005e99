namespace LightQ.Broker.Deduplication;

/// <summary>What is stored of a batch that is published again.</summary>
/// <param name="Offset">Where it is, or the message with its id; -1 when that is not known any more.</param>
/// <param name="IsDuplicate">Whether it is another message with the same id.</param>
internal readonly record struct StoredBatch(long Offset, bool IsDuplicate)
{
    /// <summary>Nothing is.</summary>
    public static StoredBatch None => new(-1, false);

    /// <summary>Whether anything is, so that the batch is not to be appended.</summary>
    public bool IsAny => Offset >= 0 || IsDuplicate;
}
