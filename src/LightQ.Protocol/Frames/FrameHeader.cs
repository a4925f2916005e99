using System.Buffers.Binary;

namespace LightQ.Protocol.Frames;

/// <summary>The 16 bytes in front of every frame's body, little-endian.</summary>
/// <remarks>
/// <code>
///  0        4    5     6     8          12         16
///  +--------+----+-----+-----+----------+----------+------
///  | length |type|flags|  0  |  stream  |   tag    | body
///  +--------+----+-----+-----+----------+----------+------
///  u32 whole frame           u32        u32
/// </code>
/// </remarks>
/// <param name="Length">The whole frame, header included, in bytes.</param>
/// <param name="Type">What the frame is.</param>
/// <param name="Flags">Bits whose meaning depends on the type; 0 when the type defines none.</param>
/// <param name="Stream">
/// Producer or subscription id within the connection, chosen by the client; 0 is the connection itself.
/// </param>
/// <param name="Tag">The answer to a request repeats it; 0 is none.</param>
public readonly record struct FrameHeader(int Length, FrameType Type, byte Flags, uint Stream, uint Tag)
{
    /// <summary>Bytes of the header.</summary>
    public const int Size = 16;

    private const int TypeOffset = 4;
    private const int FlagsOffset = 5;
    private const int StreamOffset = 8;
    private const int TagOffset = 12;

    /// <summary>Bytes of the body.</summary>
    public int BodyLength => Length - Size;

    /// <summary>Writes the header into the first <see cref="Size"/> bytes of <paramref name="destination"/>.</summary>
    public void Write(Span<byte> destination)
    {
        destination = destination[..Size];
        BinaryPrimitives.WriteUInt32LittleEndian(destination, (uint)Length);
        destination[TypeOffset] = (byte)Type;
        destination[FlagsOffset] = Flags;
        BinaryPrimitives.WriteUInt16LittleEndian(destination[6..], 0);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[StreamOffset..], Stream);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[TagOffset..], Tag);
    }

    /// <summary>Reads a header when at least <see cref="Size"/> bytes have arrived.</summary>
    /// <param name="source">The bytes received so far.</param>
    /// <param name="maxFrameBytes">The limit in force for <see cref="Length"/>.</param>
    /// <param name="header">The header; its body may not have arrived yet.</param>
    /// <returns>False when more bytes are needed.</returns>
    /// <exception cref="ProtocolException">
    /// The length is below the header's own or above the limit, the type is unknown, or reserved bytes are set.
    /// </exception>
    public static bool TryRead(ReadOnlySpan<byte> source, int maxFrameBytes, out FrameHeader header)
    {
        if (source.Length < Size)
        {
            header = default;
            return false;
        }
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(source);
        byte type = source[TypeOffset];
        if (
            type is < (byte)FrameType.Hello or > (byte)FrameType.Window
            || BinaryPrimitives.ReadUInt16LittleEndian(source[6..]) != 0
            || length < Size
        )
        {
            throw Malformed(source, length, type);
        }

        if (length > Math.Max(maxFrameBytes, 0))
        {
            throw new ProtocolException(
                ErrorCode.FrameTooLarge,
                $"A frame of {length} bytes is above the limit of {maxFrameBytes}."
            );
        }

        header = new FrameHeader(
            (int)length,
            (FrameType)type,
            source[FlagsOffset],
            BinaryPrimitives.ReadUInt32LittleEndian(source[StreamOffset..]),
            BinaryPrimitives.ReadUInt32LittleEndian(source[TagOffset..])
        );
        return true;
    }

    /// <summary>
    /// The other protocols that come to a wrong port are told by their first bytes: HTTP by a word in capitals, TLS by
    /// its record header.
    /// </summary>
    private static ProtocolException Malformed(ReadOnlySpan<byte> source, uint length, byte type)
    {
        bool isText = !source[..3].ContainsAnyExceptInRange((byte)'A', (byte)'Z'),
            isTls = source is [0x16, 0x03, ..];
        string what =
            isText ? "What looks like HTTP is"
            : isTls ? "What looks like TLS is"
            : $"Length {length} and type {type} are";
        return new ProtocolException(ErrorCode.MalformedFrame, $"{what} not the header of a LightQ frame.");
    }
}
