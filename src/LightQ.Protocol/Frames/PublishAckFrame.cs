using System.Buffers.Binary;

namespace LightQ.Protocol.Frames;

/// <summary>From the server: which messages of a producer stream were stored, and how safely.</summary>
/// <remarks>
/// <code>
///  0            1    2       4          8
///  +------------+----+-------+----------+---------------------------------------------
///  | durability | 0  | count |    0     | count x { u64 first, u32 n, u16 error, u16 flags, u64 base }
///  +------------+----+-------+----------+---------------------------------------------
/// </code>
/// This is a view over the body: valid as long as its memory is. Allocates nothing.
/// </remarks>
public readonly ref struct PublishAckFrame
{
    private const int FixedSize = 8;
    private const ushort Duplicate = 1;
    private const ushort Alone = 2;
    private const ushort Unchecked = 4;
    private readonly ReadOnlySpan<byte> _entries;

    /// <summary>Reads a body.</summary>
    /// <exception cref="ProtocolException">
    /// The body is shorter than its count says, or the durability is unknown.
    /// </exception>
    public PublishAckFrame(ReadOnlySpan<byte> body)
    {
        var reader = new BodyReader(body);
        Durability = reader.ReadEnum<Durability>();
        reader.ReadByte();
        Count = reader.ReadUInt16();
        reader.ReadUInt32();
        _entries = reader.ReadBytes(Count * AckRange.Size);
    }

    /// <summary>The durability that all ranges without an error have reached.</summary>
    public Durability Durability { get; }

    /// <summary>How many ranges there are.</summary>
    public int Count { get; }

    /// <summary>The range at <paramref name="index"/>.</summary>
    public AckRange this[int index]
    {
        get
        {
            ReadOnlySpan<byte> entry = _entries.Slice(index * AckRange.Size, AckRange.Size);
            ushort flags = BinaryPrimitives.ReadUInt16LittleEndian(entry[14..]);
            return new AckRange(
                BinaryPrimitives.ReadUInt64LittleEndian(entry),
                BinaryPrimitives.ReadUInt32LittleEndian(entry[8..]),
                (ErrorCode)BinaryPrimitives.ReadUInt16LittleEndian(entry[12..]),
                BinaryPrimitives.ReadInt64LittleEndian(entry[16..]),
                (flags & Duplicate) != 0,
                (flags & Alone) != 0,
                (flags & Unchecked) != 0
            );
        }
    }

    /// <summary>Bytes of a whole frame with <paramref name="ranges"/> ranges.</summary>
    public static int SizeOf(int ranges) => FrameHeader.Size + FixedSize + (ranges * AckRange.Size);

    /// <summary>Writes a whole frame.</summary>
    /// <param name="destination">At least <see cref="SizeOf"/> bytes.</param>
    /// <param name="stream">The producer stream.</param>
    /// <param name="durability">The durability reached.</param>
    /// <param name="ranges">At most 65,535 ranges.</param>
    /// <returns>The frame's length in bytes.</returns>
    public static int Write(Span<byte> destination, uint stream, Durability durability, ReadOnlySpan<AckRange> ranges)
    {
        int length = SizeOf(ranges.Length);
        new FrameHeader(length, FrameType.PublishAck, 0, stream, 0).Write(destination);
        var writer = new BodyWriter(destination[FrameHeader.Size..]);
        writer.WriteByte((byte)durability);
        writer.WriteByte(0);
        writer.WriteUInt16(checked((ushort)ranges.Length));
        writer.WriteUInt32(0);
        foreach (ref readonly AckRange range in ranges)
        {
            writer.WriteUInt64(range.FirstSequence);
            writer.WriteUInt32(range.Count);
            writer.WriteUInt16((ushort)range.Error);
            writer.WriteUInt16(FlagsOf(range));
            writer.WriteInt64(range.BaseOffset);
        }
        return length;
    }

    private static ushort FlagsOf(in AckRange range) =>
        (ushort)(
            (range.IsDuplicate ? Duplicate : 0) | (range.IsAlone ? Alone : 0) | (range.IsUnchecked ? Unchecked : 0)
        );
}
