using System.Buffers;
using System.Buffers.Binary;
using Google.Protobuf;

namespace LightQ.Grpc.Framing;

/// <summary>
/// The frame around each message of a call.
/// <code>
///  0            1                              5                 5 + length
///  +------------+------------------------------+-----------------+
///  | compressed | length, big-endian, 32 bits  | message         |
///  | 0 or 1     |                              |                 |
///  +------------+------------------------------+-----------------+
/// </code>
/// </summary>
internal static class GrpcFrame
{
    public const int PrefixLength = 5;

    /// <summary>
    /// Takes one whole frame off the front of <paramref name="buffer"/>. The length is judged as soon as the prefix is there,
    /// before any more of the message is waited for.
    /// </summary>
    /// <returns>False when more bytes are needed; the buffer is then as it was.</returns>
    /// <exception cref="GrpcException">The message is longer than the limit, or the prefix is not gRPC.</exception>
    public static bool TryRead(
        ref ReadOnlySequence<byte> buffer, int maxMessageSize, out bool compressed, out ReadOnlySequence<byte> message)
    {
        compressed = false;
        message = default;
        if (buffer.Length < PrefixLength) return false;

        Span<byte> prefix = stackalloc byte[PrefixLength];
        buffer.Slice(0, PrefixLength).CopyTo(prefix);
        if (prefix[0] > 1)
            throw new GrpcException(GrpcStatusCode.Internal, $"A message starts with {prefix[0]} where its compressed flag, 0 or 1, belongs.");
        uint length = BinaryPrimitives.ReadUInt32BigEndian(prefix[1..]);
        if (length > (uint)maxMessageSize)
            throw new GrpcException(GrpcStatusCode.ResourceExhausted, $"The received message has {length} bytes; the limit is {maxMessageSize}.");
        if (buffer.Length - PrefixLength < length) return false;

        compressed = prefix[0] == 1;
        message = buffer.Slice(PrefixLength, length);
        buffer = buffer.Slice(message.End);
        return true;
    }

    /// <summary>Checks the size of a message that is about to be sent.</summary>
    /// <returns>Its serialised size, without the prefix.</returns>
    public static int Measure(IMessage message, int maxMessageSize)
    {
        int size = message.CalculateSize();
        if (size > maxMessageSize)
            throw new GrpcException(GrpcStatusCode.ResourceExhausted, $"The message to send has {size} bytes; the limit is {maxMessageSize}.");
        return size;
    }

    /// <summary>Writes the frame of a message of the given size into exactly the bytes it needs.</summary>
    public static void Write(IMessage message, int size, Span<byte> output)
    {
        WritePrefix(output, size);
        message.WriteTo(output.Slice(PrefixLength, size));
    }

    private static void WritePrefix(Span<byte> output, int size)
    {
        output[0] = 0;
        BinaryPrimitives.WriteUInt32BigEndian(output[1..], (uint)size);
    }
}
