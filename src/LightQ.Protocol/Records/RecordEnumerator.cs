using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace LightQ.Protocol.Records;

/// <summary>Reads records one after the other, in place. Allocates nothing.</summary>
/// <remarks>
/// Measured on one core of an AMD EPYC: 3.9 ns a record of 100 bytes. The time is the chain from one length to the
/// next: a view of one span and two lengths instead of three spans was tried and won 2 %.
/// </remarks>
public ref struct RecordEnumerator
{
    private readonly ViewLife _life;
    private ReadOnlySpan<byte> _left;
    private int _count;
    private long _offset;
    private RecordView _current;

    /// <summary>Starts at the front of <paramref name="records"/>.</summary>
    /// <param name="records">The records' bytes, without padding.</param>
    /// <param name="count">How many records there must be.</param>
    /// <param name="baseOffset">Offset of the first record.</param>
    public RecordEnumerator(ReadOnlySpan<byte> records, int count, long baseOffset)
    {
        _left = records;
        _count = count;
        _offset = baseOffset - 1;
    }

    internal RecordEnumerator(ReadOnlySpan<byte> records, int count, long baseOffset, ViewLife life)
        : this(records, count, baseOffset) => _life = life;

    /// <summary>The current record.</summary>
    public readonly RecordView Current => _current;

    /// <summary>Goes to the next record.</summary>
    /// <returns>False after the last.</returns>
    /// <exception cref="ProtocolException">
    /// A length reaches beyond the batch, or the count and the bytes disagree.
    /// </exception>
    public bool MoveNext()
    {
        if (_count == 0)
            return _left.IsEmpty ? false : throw Damaged();
        if (_left.Length < RecordLayout.FixedSize)
            throw Damaged();
        ulong lengths = BinaryPrimitives.ReadUInt64LittleEndian(_left);
        _count--;
        _offset++;
        uint body = (uint)lengths;
        // No key and no headers: the common case in one comparison.
        if (lengths >> 32 == RecordLayout.NoKey && body <= (uint)(_left.Length - RecordLayout.FixedSize))
        {
            _current = new RecordView(
                _offset,
                _left.Slice(RecordLayout.FixedSize, (int)body),
                default,
                default,
                hasKey: false,
                isTombstone: false,
                _life
            );
            _left = _left[(RecordLayout.FixedSize + (int)body)..];
            return true;
        }
        MoveToRecordWithKeyOrHeaders(body, (int)(lengths >> 32) & 0xFFFF, (int)(lengths >> 48));
        return true;
    }

    /// <summary>Returns this enumerator, for <c>foreach</c>.</summary>
    public readonly RecordEnumerator GetEnumerator() => this;

    private void MoveToRecordWithKeyOrHeaders(uint bodyField, int keyField, int headersLength)
    {
        bool hasKey = keyField != RecordLayout.NoKey,
            isTombstone = bodyField == RecordLayout.Tombstone;
        int keyLength = hasKey ? keyField : 0;
        long bodyLength = isTombstone ? 0 : bodyField;
        if (RecordLayout.FixedSize + keyLength + headersLength + bodyLength > _left.Length)
            throw Damaged();
        ReadOnlySpan<byte> rest = _left[RecordLayout.FixedSize..];
        ReadOnlySpan<byte> key = rest[..keyLength];
        ReadOnlySpan<byte> headers = rest.Slice(keyLength, headersLength);
        rest = rest[(keyLength + headersLength)..];
        _current = new RecordView(_offset, rest[..(int)bodyLength], key, headers, hasKey, isTombstone, _life);
        _left = rest[(int)bodyLength..];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ProtocolException Damaged() =>
        new(ErrorCode.CorruptData, "A batch's records contradict its header.");
}
