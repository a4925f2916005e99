using System.Buffers;

namespace LightQ.Protocol.Frames;

/// <summary>Takes whole frames off the front of received bytes.</summary>
/// <remarks>
/// A frame inside one segment is handed out in place. Only a frame that spans segments is copied, into a pooled buffer.
/// The next call returns that buffer, so an idle connection holds none. Memory is taken only once the whole frame has
/// arrived. The body is valid until the next call, and never after it. One thread at a time.
/// </remarks>
public sealed class FrameReader
{
    private byte[]? _straddling;

    /// <summary>
    /// The largest frame accepted, header included, in bytes; at least 16. Raise it once the handshake is done.
    /// </summary>
    public int MaxFrameBytes
    {
        get;
        set
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, FrameHeader.Size);
            field = value;
        }
    } = ProtocolLimits.HandshakeFrameBytes;

    /// <summary>
    /// Takes the next frame, if all of it has arrived, and advances <paramref name="buffer"/> past it.
    /// </summary>
    /// <param name="buffer">The bytes that were received and not yet consumed.</param>
    /// <param name="header">The frame's header.</param>
    /// <param name="body">The frame's body.</param>
    /// <returns>False when more bytes are needed; <paramref name="buffer"/> is then unchanged.</returns>
    /// <exception cref="ProtocolException">The header is invalid, or the frame is too long.</exception>
    public bool TryRead(ref ReadOnlySequence<byte> buffer, out FrameHeader header, out ReadOnlySpan<byte> body)
    {
        body = default;
        if (_straddling is not null)
            ReturnStraddling();
        if (!TryReadHeader(buffer, out header) || buffer.Length < header.Length)
            return false;
        ReadOnlySpan<byte> first = buffer.FirstSpan;
        if (first.Length >= header.Length)
        {
            body = first[FrameHeader.Size..header.Length];
        }
        else
        {
            _straddling = ArrayPool<byte>.Shared.Rent(header.BodyLength);
            buffer.Slice(FrameHeader.Size, header.BodyLength).CopyTo(_straddling);
            body = _straddling.AsSpan(0, header.BodyLength);
        }
        buffer = buffer.Slice(header.Length);
        return true;
    }

    /// <summary>
    /// Reads the header of the next frame without taking it, for example to learn its length before all of it has
    /// arrived.
    /// </summary>
    /// <returns>False when fewer than 16 bytes have arrived.</returns>
    /// <exception cref="ProtocolException">The header is invalid, or the frame is too long.</exception>
    public bool TryReadHeader(in ReadOnlySequence<byte> buffer, out FrameHeader header)
    {
        ReadOnlySpan<byte> first = buffer.FirstSpan;
        if (first.Length >= FrameHeader.Size)
            return FrameHeader.TryRead(first, MaxFrameBytes, out header);
        Span<byte> copy = stackalloc byte[FrameHeader.Size];
        if (buffer.Length < FrameHeader.Size)
        {
            header = default;
            return false;
        }
        buffer.Slice(0, FrameHeader.Size).CopyTo(copy);
        return FrameHeader.TryRead(copy, MaxFrameBytes, out header);
    }

    private void ReturnStraddling()
    {
        ArrayPool<byte>.Shared.Return(_straddling!);
        _straddling = null;
    }
}
