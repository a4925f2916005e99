using System.Buffers.Binary;

namespace LightQ.Protocol.Frames;

/// <summary>
/// From the client: settles delivered messages; on a broadcast subscription, it is a receipt for them.
/// </summary>
/// <remarks>
/// <code>
///  0       2    4        8
///  +-------+----+--------+-----------------------------------------------------------------------+----------------
///  | count | 0  |   0    | count x { u64 first, u32 n, u32 deliveryId, u32 delay, u8 kind, u8 0, u16 0 } | string reason
///  +-------+----+--------+-----------------------------------------------------------------------+----------------
/// </code>
/// The reason belongs to the frame's dead-letter and abandoned entries; messages with different reasons go in different
/// frames. This is a view over the body: valid as long as its memory is. Every entry is checked when the view is made.
/// Allocates nothing.
/// </remarks>
public readonly ref struct SettleFrame
{
    private const int FixedSize = 8;
    private readonly ReadOnlySpan<byte> _entries;

    /// <summary>Reads a body.</summary>
    /// <exception cref="ProtocolException">
    /// The body is cut off, or an entry's kind, offset or count is outside its range.
    /// </exception>
    public SettleFrame(ReadOnlySpan<byte> body)
    {
        var reader = new BodyReader(body);
        Count = reader.ReadUInt16();
        reader.ReadUInt16();
        reader.ReadUInt32();
        _entries = reader.ReadBytes(Count * SettleRange.Size);
        ReasonUtf8 = reader.ReadBytes(reader.ReadUInt16());
        for (int i = 0; i < Count; i++)
        {
            SettleRange range = this[i];
            if (range.Kind is < SettleKind.Complete or > SettleKind.Begin || range.FirstOffset < 0 || range.Count == 0)
            {
                throw new ProtocolException(
                    ErrorCode.MalformedFrame,
                    $"Entry {i} of a Settle frame is out of range: {range}."
                );
            }
        }
    }

    /// <summary>How many ranges there are.</summary>
    public int Count { get; }

    /// <summary>
    /// Why the frame's dead-letter entries are dead-lettered, and its abandoned ones if that was their last delivery.
    /// In UTF-8 as received; may be empty.
    /// </summary>
    public ReadOnlySpan<byte> ReasonUtf8 { get; }

    /// <summary>The range at <paramref name="index"/>.</summary>
    public SettleRange this[int index]
    {
        get
        {
            ReadOnlySpan<byte> entry = _entries.Slice(index * SettleRange.Size, SettleRange.Size);
            return new SettleRange(
                (SettleKind)entry[20],
                BinaryPrimitives.ReadUInt32LittleEndian(entry[12..]),
                BinaryPrimitives.ReadInt64LittleEndian(entry),
                BinaryPrimitives.ReadUInt32LittleEndian(entry[8..]),
                BinaryPrimitives.ReadUInt32LittleEndian(entry[16..])
            );
        }
    }

    /// <summary>
    /// Bytes of a whole frame with <paramref name="ranges"/> ranges and a reason of <paramref name="reasonBytes"/>
    /// bytes.
    /// </summary>
    public static int SizeOf(int ranges, int reasonBytes = 0) =>
        FrameHeader.Size + FixedSize + (ranges * SettleRange.Size) + sizeof(ushort) + reasonBytes;

    /// <summary>Writes a whole frame.</summary>
    /// <param name="destination">At least <see cref="SizeOf"/> bytes.</param>
    /// <param name="stream">The subscription.</param>
    /// <param name="tag">The answering Settled repeats it; 0 for none.</param>
    /// <param name="ranges">At most 65,535 ranges.</param>
    /// <param name="reasonUtf8">For dead-letter and abandoned entries; at most 65,535 bytes.</param>
    /// <returns>The frame's length in bytes.</returns>
    public static int Write(
        Span<byte> destination,
        uint stream,
        uint tag,
        ReadOnlySpan<SettleRange> ranges,
        ReadOnlySpan<byte> reasonUtf8 = default
    )
    {
        int length = SizeOf(ranges.Length, reasonUtf8.Length);
        var writer = new BodyWriter(destination[FrameHeader.Size..]);
        writer.WriteUInt16(checked((ushort)ranges.Length));
        writer.WriteUInt16(0);
        writer.WriteUInt32(0);
        foreach (ref readonly SettleRange range in ranges)
        {
            writer.WriteInt64(range.FirstOffset);
            writer.WriteUInt32(range.Count);
            writer.WriteUInt32(range.DeliveryId);
            writer.WriteUInt32(range.DelayMilliseconds);
            writer.WriteByte((byte)range.Kind);
            writer.WriteByte(0);
            writer.WriteUInt16(0);
        }
        writer.WriteUInt16(checked((ushort)reasonUtf8.Length));
        writer.WriteBytes(reasonUtf8);
        new FrameHeader(length, FrameType.Settle, 0, stream, tag).Write(destination);
        return length;
    }
}
