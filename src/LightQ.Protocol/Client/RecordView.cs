using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>One record, in place. It is good as long as the batch that it is a record of.</summary>
/// <remarks>
/// Of a batch that a client received, each member throws an <see cref="InvalidOperationException"/> once the batch is
/// over. A span that was taken before cannot: do not read it any more.
/// </remarks>
public readonly ref struct RecordView
{
    private readonly ReadOnlySpan<byte> _body;
    private readonly ReadOnlySpan<byte> _key;
    private readonly ReadOnlySpan<byte> _headers;
    private readonly ViewLife _life;
    private readonly long _offset;
    private readonly bool _hasKey;
    private readonly bool _isTombstone;

    internal RecordView(
        long offset,
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> key,
        ReadOnlySpan<byte> headers,
        bool hasKey,
        bool isTombstone,
        ViewLife life
    )
    {
        _offset = offset;
        _body = body;
        _key = key;
        _headers = headers;
        _hasKey = hasKey;
        _isTombstone = isTombstone;
        _life = life;
    }

    /// <summary>The message's offset in the log.</summary>
    public long Offset
    {
        get
        {
            _life.ThrowIfOver();
            return _offset;
        }
    }

    /// <summary>The body; empty for a tombstone.</summary>
    public ReadOnlySpan<byte> Body
    {
        get
        {
            _life.ThrowIfOver();
            return _body;
        }
    }

    /// <summary>The key; empty when there is none.</summary>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            _life.ThrowIfOver();
            return _key;
        }
    }

    /// <summary>The headers as they lie in the record.</summary>
    public ReadOnlySpan<byte> HeaderBytes
    {
        get
        {
            _life.ThrowIfOver();
            return _headers;
        }
    }

    /// <summary>Whether there is a key; it may be empty.</summary>
    public bool HasKey
    {
        get
        {
            _life.ThrowIfOver();
            return _hasKey;
        }
    }

    /// <summary>Whether this record is a tombstone: it says that the last value of its key was deleted.</summary>
    public bool IsTombstone
    {
        get
        {
            _life.ThrowIfOver();
            return _isTombstone;
        }
    }

    /// <summary>The headers, one by one.</summary>
    public HeaderEnumerator Headers => new(HeaderBytes, _life);
}
