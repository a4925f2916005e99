using System.Buffers.Text;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Bench.Nats;

/// <summary>Parses what a NATS server sends, in place.</summary>
/// <remarks>
/// <code>
/// MSG subject sid [reply-to] bytes CRLF payload CRLF
/// INFO {...} CRLF     PING CRLF     PONG CRLF     +OK CRLF     -ERR '...' CRLF
/// </code>
/// Messages of one subject and size have the same first line, so the line before is compared as a whole and only a new
/// one is taken apart. Not thread-safe.
/// </remarks>
internal sealed class NatsParser
{
    private const int BufferBytes = 256 * 1024;
    private const int SmallestReceive = 32 * 1024;
    private const int MaxPayloadBytes = 8 * 1024 * 1024;

    private readonly INatsSink _sink;
    private byte[] _buffer;
    private byte[] _header = [];
    private int _headerPayload;
    private int _start;
    private int _end;
    private int _needed;

    public NatsParser(INatsSink sink, int bufferBytes = BufferBytes) =>
        (_sink, _buffer) = (sink, GC.AllocateUninitializedArray<byte>(bufferBytes, pinned: true));

    /// <summary>Where the next receive goes; never empty.</summary>
    public Span<byte> Room()
    {
        int pending = _end - _start;
        if (pending == 0)
            (_start, _end) = (0, 0);
        else if (_buffer.Length - _end < SmallestReceive || _buffer.Length - _start < _needed)
            MoveToFront(pending);
        return _buffer.AsSpan(_end);
    }

    /// <summary>Says how many bytes were received and hands out what is complete.</summary>
    /// <exception cref="ProtocolException">The bytes are not those of a NATS server.</exception>
    public void Received(int count)
    {
        _end += count;
        while (TryTake(_buffer.AsSpan(_start, _end - _start), out int taken))
            _start += taken;
    }

    private bool TryTake(ReadOnlySpan<byte> bytes, out int taken)
    {
        if (_header.Length == 0 || !bytes.StartsWith(_header))
            return TryTakeLine(bytes, out taken);
        int payloadEnd = _header.Length + _headerPayload;
        taken = payloadEnd + 2;
        if (bytes.Length < taken)
        {
            _needed = taken;
            return false;
        }
        if (bytes[payloadEnd] != '\r' || bytes[payloadEnd + 1] != '\n')
            throw new ProtocolException(ErrorCode.MalformedFrame, "A NATS message does not end where its length says.");
        _sink.OnMessage(bytes[_header.Length..payloadEnd]);
        return true;
    }

    private bool TryTakeLine(ReadOnlySpan<byte> bytes, out int taken)
    {
        int end = bytes.IndexOf("\r\n"u8);
        taken = end + 2;
        if (end < 0)
        {
            _needed = Math.Max(_needed, bytes.Length + 1);
            return false;
        }
        ReadOnlySpan<byte> line = bytes[..end];
        if (!line.StartsWith("MSG "u8))
        {
            _sink.OnLine(line);
            return true;
        }
        if (
            !Utf8Parser.TryParse(line[(line.LastIndexOf((byte)' ') + 1)..], out int length, out _)
            || length is < 0 or > MaxPayloadBytes
        )
        {
            throw new ProtocolException(
                ErrorCode.MalformedFrame,
                $"A NATS message has no length of 0 to {MaxPayloadBytes}."
            );
        }

        _header = bytes[..taken].ToArray();
        _headerPayload = length;
        return TryTake(bytes, out taken);
    }

    private void MoveToFront(int pending)
    {
        byte[] target =
            _needed + SmallestReceive > _buffer.Length
                ? GC.AllocateUninitializedArray<byte>(2 * (_needed + SmallestReceive), pinned: true)
                : _buffer;
        Buffer.BlockCopy(_buffer, _start, target, 0, pending);
        _buffer = target;
        (_start, _end) = (0, pending);
    }
}
