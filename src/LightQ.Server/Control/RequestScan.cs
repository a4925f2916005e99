using System.Buffers;
using System.Text;

namespace LightQ.Server.Control;

/// <summary>
/// Follows the bytes of a message: how many objects a parser would make of them, and which topic they name. Makes no
/// object of its own but the name.
/// </summary>
/// <remarks>
/// Bytes that are no message end the scan where they stop being one, and so does the parser behind it.
/// </remarks>
internal ref struct RequestScan
{
    /// <summary>What a parser makes of an element, in bytes, about: an object of some fields, and its place in a list.
    /// </summary>
    public const int ElementBytes = 160;

    /// <summary>As deep as the parser goes.</summary>
    private const int MostDeep = 100;

    private const int Varint = 0,
        Fixed64 = 1,
        Piece = 2,
        Fixed32 = 5;

    /// <summary>Names of topics are shorter.</summary>
    private const int MostTopicBytes = 1024;

    private readonly int _most;
    private SequenceReader<byte> _reader;

    private RequestScan(in ReadOnlySequence<byte> message, int most)
    {
        _reader = new SequenceReader<byte>(message);
        _most = most;
    }

    /// <summary>
    /// Fields and entries of lists so far: each may become an object, or the room of one in a list, also where the
    /// field is unknown.
    /// </summary>
    public int Elements { get; private set; }

    /// <summary>The topic that is named last; null while none is.</summary>
    public string? Topic { get; private set; }

    /// <summary>Follows a message, or the beginning of one.</summary>
    /// <param name="message">Its bytes.</param>
    /// <param name="shape">What it should be.</param>
    /// <param name="most">Ends behind so many elements.</param>
    public static RequestScan Of(in ReadOnlySequence<byte> message, RequestShape shape, int most)
    {
        var scan = new RequestScan(message, most);
        scan.Follow(shape, message.Length, 0);
        return scan;
    }

    private bool Follow(RequestShape? shape, long end, int depth)
    {
        while (_reader.Consumed < end)
        {
            if (!TryReadVarint(out ulong tag) || ++Elements > _most)
                return false;
            int field = (int)(tag >> 3);
            bool goesOn = (tag & 7) switch
            {
                Varint => TryReadVarint(out _),
                Fixed64 => TrySkip(sizeof(ulong)),
                Fixed32 => TrySkip(sizeof(uint)),
                Piece => FollowPiece(shape, field, end, depth),
                _ => false,
            };
            if (!goesOn)
                return false;
        }
        return true;
    }

    private bool FollowPiece(RequestShape? shape, int field, long end, int depth)
    {
        if (!TryReadVarint(out ulong length) || length > (ulong)(end - _reader.Consumed))
            return false;
        if (shape?.MessageOf(field) is { } inner)
            return depth < MostDeep && Follow(inner, _reader.Consumed + (long)length, depth + 1);
        if (shape?.IsPacked(field) == true)
            return CountPacked((long)length);
        if (shape?.IsTopic(field) == true && length <= MostTopicBytes)
        {
            if (_reader.Remaining < (long)length)
                return false;
            Topic = Encoding.UTF8.GetString(_reader.UnreadSequence.Slice(0, (long)length));
        }
        return TrySkip((long)length);
    }

    /// <summary>Each number of a packed list has one last byte; of a list with numbers of one size, more.</summary>
    private bool CountPacked(long length)
    {
        foreach (ReadOnlyMemory<byte> piece in _reader.UnreadSequence.Slice(0, Math.Min(length, _reader.Remaining)))
        {
            foreach (byte b in piece.Span)
                Elements += b < 0x80 ? 1 : 0;
            if (Elements > _most)
                return false;
        }
        return TrySkip(length);
    }

    private bool TrySkip(long bytes)
    {
        if (_reader.Remaining < bytes)
            return false;
        _reader.Advance(bytes);
        return true;
    }

    private bool TryReadVarint(out ulong value)
    {
        value = 0;
        for (int shift = 0; shift < 64; shift += 7)
        {
            if (!_reader.TryRead(out byte b))
                return false;
            value |= (ulong)(b & 0x7F) << shift;
            if (b < 0x80)
                return true;
        }
        return false;
    }
}
