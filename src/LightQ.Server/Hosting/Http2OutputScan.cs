using System.Buffers.Binary;

namespace LightQ.Server.Hosting;

/// <summary>Follows what a server sends on a connection of HTTP/2, frame by frame. Keeps none of it.</summary>
/// <param name="onFrame">
/// Called for each frame of an answer: its stream, the bytes that it has of the body, and whether it is the last one.
/// </param>
internal struct Http2OutputScan(Action<int, int, bool> onFrame)
{
    private const int HeaderBytes = 9,
        TypeOffset = 3,
        FlagsOffset = 4,
        StreamOffset = 5,
        Data = 0,
        Headers = 1,
        Reset = 3;
    private const byte EndStream = 1;

    private HeaderBuffer _header;
    private int _headerBytes;
    private int _payloadLeft;

    /// <summary>Takes the next bytes.</summary>
    public void Take(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            if (_payloadLeft != 0)
            {
                int payload = Math.Min(_payloadLeft, bytes.Length);
                _payloadLeft -= payload;
                bytes = bytes[payload..];
                continue;
            }
            int header = Math.Min(HeaderBytes - _headerBytes, bytes.Length);
            bytes[..header].CopyTo(_header[_headerBytes..]);
            _headerBytes += header;
            bytes = bytes[header..];
            if (_headerBytes < HeaderBytes)
                return;
            _headerBytes = 0;
            Begin();
        }
    }

    /// <summary>A frame's header is whole.</summary>
    private void Begin()
    {
        ReadOnlySpan<byte> header = _header;
        _payloadLeft = BinaryPrimitives.ReadInt32BigEndian(header) >>> 8;
        int type = header[TypeOffset];
        if (type is not (Data or Headers or Reset))
            return;
        bool isLast = type == Reset || (header[FlagsOffset] & EndStream) != 0;
        int bytes = type == Data ? _payloadLeft : 0;
        if (bytes != 0 || isLast)
            onFrame(BinaryPrimitives.ReadInt32BigEndian(header[StreamOffset..]) & int.MaxValue, bytes, isLast);
    }

    [System.Runtime.CompilerServices.InlineArray(HeaderBytes)]
    private struct HeaderBuffer
    {
        private byte _first;
    }
}
