using System.Buffers.Binary;
using LightQ.Protocol;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>Reads a record's headers one after the other, in place. Allocates nothing.</summary>
public ref struct HeaderEnumerator
{
    private readonly ViewLife _life;
    private ReadOnlySpan<byte> _left;
    private HeaderView _current;

    /// <summary>Starts at the front of <paramref name="headers"/>.</summary>
    public HeaderEnumerator(ReadOnlySpan<byte> headers) => _left = headers;

    internal HeaderEnumerator(ReadOnlySpan<byte> headers, ViewLife life)
        : this(headers) => _life = life;

    /// <summary>The current header.</summary>
    public readonly HeaderView Current
    {
        get
        {
            _life.ThrowIfOver();
            return _current;
        }
    }

    /// <summary>Goes to the next header.</summary>
    /// <exception cref="ProtocolException">
    /// A length reaches beyond the record, or a header has neither name nor id.
    /// </exception>
    public bool MoveNext()
    {
        _life.ThrowIfOver();
        if (_left.IsEmpty)
            return false;
        int nameLength = Take(1)[0];
        byte wellKnownId = 0;
        if (nameLength == 0 && (wellKnownId = Take(1)[0]) == 0)
            throw new ProtocolException(ErrorCode.CorruptData, "A record's header has neither a name nor an id.");
        ReadOnlySpan<byte> name = Take(nameLength);
        ReadOnlySpan<byte> value = Take(BinaryPrimitives.ReadUInt16LittleEndian(Take(sizeof(ushort))));
        _current = new HeaderView(name, wellKnownId, value, _life);
        return true;
    }

    /// <summary>Returns this enumerator, for <c>foreach</c>.</summary>
    public readonly HeaderEnumerator GetEnumerator()
    {
        _life.ThrowIfOver();
        return this;
    }

    private ReadOnlySpan<byte> Take(int count)
    {
        if (count > _left.Length)
            throw new ProtocolException(ErrorCode.CorruptData, "A record's headers are cut off.");
        ReadOnlySpan<byte> taken = _left[..count];
        _left = _left[count..];
        return taken;
    }
}
