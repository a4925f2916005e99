namespace LightQ.Client;

/// <summary>One record, in place. Valid as long as the batch's memory is.</summary>
public readonly ref struct RecordView
{
    internal RecordView(
        long offset,
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> key,
        ReadOnlySpan<byte> headers,
        bool hasKey,
        bool isTombstone
    )
    {
        Offset = offset;
        Body = body;
        Key = key;
        HeaderBytes = headers;
        HasKey = hasKey;
        IsTombstone = isTombstone;
    }

    /// <summary>The message's offset in the log.</summary>
    public long Offset { get; }

    /// <summary>The body; empty for a tombstone.</summary>
    public ReadOnlySpan<byte> Body { get; }

    /// <summary>The key; empty when there is none.</summary>
    public ReadOnlySpan<byte> Key { get; }

    /// <summary>The headers as they lie in the record.</summary>
    public ReadOnlySpan<byte> HeaderBytes { get; }

    /// <summary>Whether there is a key; it may be empty.</summary>
    public bool HasKey { get; }

    /// <summary>Whether this record is a tombstone: it says that the last value of its key was deleted.</summary>
    public bool IsTombstone { get; }

    /// <summary>The headers, one by one.</summary>
    public HeaderEnumerator Headers => new(HeaderBytes);
}
