using System.Buffers;

namespace LightQ.Protocol.Frames;

/// <summary>Writes whole frames and reads typed bodies. Has no sockets and no state; thread-safe.</summary>
public static class FrameCodec
{
    /// <summary>Appends one frame to <paramref name="output"/>.</summary>
    /// <param name="output">Where the frame is written; advanced by its length.</param>
    /// <param name="body">The body.</param>
    /// <param name="stream">The stream that the frame belongs to; 0 for the connection.</param>
    /// <param name="tag">The tag of the request that the frame makes or answers; 0 for none.</param>
    /// <returns>The frame's length in bytes.</returns>
    public static int Write<TBody>(IBufferWriter<byte> output, scoped in TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>, allows ref struct
    {
        Span<byte> span = output.GetSpan(FrameHeader.Size + body.MaxSize);
        int length = Write(span, body, stream, tag);
        output.Advance(length);
        return length;
    }

    /// <summary>
    /// Writes one frame into <paramref name="destination"/>, which must hold at least 16 +
    /// <see cref="IFrameBody{TSelf}.MaxSize"/> bytes.
    /// </summary>
    /// <returns>The frame's length in bytes.</returns>
    public static int Write<TBody>(Span<byte> destination, scoped in TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>, allows ref struct
    {
        var writer = new BodyWriter(destination[FrameHeader.Size..]);
        body.Write(ref writer);
        int length = FrameHeader.Size + writer.Written;
        new FrameHeader(length, TBody.Type, 0, stream, tag).Write(destination);
        return length;
    }

    /// <summary>Reads a typed body.</summary>
    /// <exception cref="ProtocolException">A field is cut off or outside its range.</exception>
    public static TBody Read<TBody>(ReadOnlySpan<byte> body)
        where TBody : IFrameBody<TBody>
    {
        var reader = new BodyReader(body);
        return TBody.Read(ref reader);
    }
}
