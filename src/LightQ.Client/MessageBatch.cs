using LightQ.Protocol.Batches;

namespace LightQ.Client;

/// <summary>A received batch: enumerate it for its messages as spans, the fastest way to consume.</summary>
/// <remarks>A small view over the received bytes, valid until the enumerator moves to the next batch.</remarks>
public readonly struct MessageBatch
{
    private readonly byte[] _memory;
    private readonly int _start;
    private readonly int _length;
    private readonly int _skip;

    internal MessageBatch(byte[] memory, int start, int length, int skip)
    {
        _memory = memory;
        _start = start;
        _length = length;
        _skip = skip;
    }

    /// <summary>Offset of the first message.</summary>
    public long BaseOffset => View.BaseOffset + _skip;

    /// <summary>How many messages it holds.</summary>
    public int Count => View.RecordCount - _skip;

    /// <summary>When the producer opened the batch, by the producer's clock.</summary>
    public DateTimeOffset Timestamp => Message.FromUnixMicroseconds(View.Timestamp);

    /// <summary>When the broker appended it, by the broker's clock.</summary>
    public DateTimeOffset AppendTime => Message.FromUnixMicroseconds(View.AppendTime);

    /// <summary>The batch as it travelled: header, records, padding.</summary>
    public ReadOnlyMemory<byte> Bytes => new(_memory, _start, _length);

    private BatchView View => new(new ReadOnlySpan<byte>(_memory, _start, _length));

    /// <summary>The messages, in the order of their offsets.</summary>
    public MessageBatchEnumerator GetEnumerator() => new(View, _skip);
}
