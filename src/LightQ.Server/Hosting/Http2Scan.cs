using System.Buffers.Binary;
using LightQ.Server.Limits;

namespace LightQ.Server.Hosting;

/// <summary>
/// Follows what a client sends on a connection of HTTP/2, frame by frame: what it costs, and whether something has
/// begun that must not take long. Decides nothing, and keeps none of it.
/// </summary>
/// <param name="onReset">Called for each stream that the client ends before it was answered.</param>
internal struct Http2Scan(Action<int>? onReset = null)
{
    private const int HeaderBytes = 9,
        TypeOffset = 3,
        StreamOffset = 5,
        Data = 0,
        Headers = 1,
        Reset = 3,
        WindowUpdate = 8,
        Continuation = 9;
    private const byte EndStream = 1,
        EndHeaders = 4;

    /// <summary>
    /// A reset takes about what a call takes; a frame that is no call a part of it, and one that carries some of a
    /// message, or asks for more, next to nothing.
    /// </summary>
    private const int OtherCost = CallPace.Call / 10,
        FlowCost = CallPace.Call / 100;

    private HeaderBuffer _header;
    private int _headerBytes;
    private int _prefaceBytes;
    private int _payloadLeft;
    private bool _isData;
    private bool _isInBlock;
    private bool _isOther;

    private static ReadOnlySpan<byte> Preface => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8;

    /// <summary>
    /// Whether a part of something is here that a client sends in one go: anything but the bytes of messages.
    /// </summary>
    public readonly bool IsPartial =>
        !_isOther
        && (_prefaceBytes < Preface.Length || _headerBytes != 0 || _isInBlock || (_payloadLeft != 0 && !_isData));

    /// <summary>How many parts of that kind have ended.</summary>
    public int Completed { get; private set; }

    /// <summary>
    /// Takes the next bytes, up to the end of the frame with which they cost as much as they may, and the messages
    /// behind it: a call that has begun has its request.
    /// </summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="cost">What all that was taken has cost so far (<see cref="CallPace"/>).</param>
    /// <param name="most">What it may cost.</param>
    /// <returns>How many bytes it took.</returns>
    public int Take(ReadOnlySpan<byte> bytes, ref long cost, long most)
    {
        ReadOnlySpan<byte> left = bytes[TakePreface(bytes)..];
        while (!left.IsEmpty && !_isOther)
        {
            if (_payloadLeft != 0)
            {
                int payload = Math.Min(_payloadLeft, left.Length);
                _payloadLeft -= payload;
                left = left[payload..];
            }
            else if (_headerBytes == 0 && cost >= most && (left.Length <= TypeOffset || left[TypeOffset] != Data))
            {
                return bytes.Length - left.Length;
            }
            else
            {
                int header = Math.Min(HeaderBytes - _headerBytes, left.Length);
                left[..header].CopyTo(_header[_headerBytes..]);
                _headerBytes += header;
                left = left[header..];
                if (_headerBytes < HeaderBytes)
                    break;
                _headerBytes = 0;
                cost += Begin();
            }
            if (_payloadLeft == 0 && !_isInBlock)
                Completed++;
        }
        return bytes.Length;
    }

    /// <summary>Bytes that do not begin like HTTP/2 are rejected by the server behind this.</summary>
    private int TakePreface(ReadOnlySpan<byte> bytes)
    {
        int length = Math.Min(Preface.Length - _prefaceBytes, bytes.Length);
        if (length == 0)
            return 0;
        _isOther |= !bytes[..length].SequenceEqual(Preface.Slice(_prefaceBytes, length));
        _prefaceBytes += length;
        if (_prefaceBytes == Preface.Length)
            Completed++;
        return length;
    }

    /// <summary>A frame's header is whole.</summary>
    private int Begin()
    {
        ReadOnlySpan<byte> header = _header;
        _payloadLeft = BinaryPrimitives.ReadInt32BigEndian(header) >>> 8;
        int type = header[TypeOffset];
        byte flags = header[4];
        _isData = type == Data;
        if (type is Headers or Continuation)
            _isInBlock = (flags & EndHeaders) == 0;
        if (type == Reset)
            onReset?.Invoke(BinaryPrimitives.ReadInt32BigEndian(header[StreamOffset..]) & int.MaxValue);
        return type switch
        {
            Headers or Reset => CallPace.Call,
            Data when _payloadLeft != 0 || (flags & EndStream) != 0 => FlowCost,
            WindowUpdate => FlowCost,
            _ => OtherCost,
        };
    }

    [System.Runtime.CompilerServices.InlineArray(HeaderBytes)]
    private struct HeaderBuffer
    {
        private byte _first;
    }
}
