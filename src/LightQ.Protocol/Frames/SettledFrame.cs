using System.Buffers.Binary;

namespace LightQ.Protocol.Frames;

/// <summary>From the server: the results of settlements; carries the Settle's tag.</summary>
/// <remarks>
/// <code>
///  0       2    4        8
///  +-------+----+--------+-----------------------------------------------------------------------
///  | count | 0  |   0    | count x { u64 first, u32 n, u32 deliveryId, u16 outcome, u16 0, u32 0 }
///  +-------+----+--------+-----------------------------------------------------------------------
/// </code>
/// This is a view over the body: valid as long as its memory is. Every entry is checked when the view is made.
/// Allocates nothing.
/// </remarks>
public readonly ref struct SettledFrame
{
    private const int FixedSize = 8;
    private readonly ReadOnlySpan<byte> _entries;

    /// <summary>Reads a body.</summary>
    /// <exception cref="ProtocolException">
    /// The body is cut off, or an entry's outcome, offset or count is outside its range.
    /// </exception>
    public SettledFrame(ReadOnlySpan<byte> body)
    {
        var reader = new BodyReader(body);
        Count = reader.ReadUInt16();
        reader.ReadUInt16();
        reader.ReadUInt32();
        _entries = reader.ReadBytes(Count * SettledRange.Size);
        for (int i = 0; i < Count; i++)
        {
            SettledRange range = this[i];
            if (range.Outcome > SettleOutcome.Unknown || range.FirstOffset < 0 || range.Count == 0)
            {
                throw new ProtocolException(
                    ErrorCode.MalformedFrame,
                    $"Entry {i} of a Settled frame is out of range: {range}."
                );
            }
        }
    }

    /// <summary>How many ranges there are.</summary>
    public int Count { get; }

    /// <summary>The range at <paramref name="index"/>.</summary>
    public SettledRange this[int index]
    {
        get
        {
            ReadOnlySpan<byte> entry = _entries.Slice(index * SettledRange.Size, SettledRange.Size);
            return new SettledRange(
                (SettleOutcome)BinaryPrimitives.ReadUInt16LittleEndian(entry[16..]),
                BinaryPrimitives.ReadUInt32LittleEndian(entry[12..]),
                BinaryPrimitives.ReadInt64LittleEndian(entry),
                BinaryPrimitives.ReadUInt32LittleEndian(entry[8..])
            );
        }
    }

    /// <summary>Bytes of a whole frame with <paramref name="ranges"/> ranges.</summary>
    public static int SizeOf(int ranges) => FrameHeader.Size + FixedSize + (ranges * SettledRange.Size);

    /// <summary>Writes a whole frame.</summary>
    /// <param name="destination">At least <see cref="SizeOf"/> bytes.</param>
    /// <param name="stream">The subscription.</param>
    /// <param name="tag">The Settle's tag.</param>
    /// <param name="ranges">At most 65,535 ranges.</param>
    /// <returns>The frame's length in bytes.</returns>
    public static int Write(Span<byte> destination, uint stream, uint tag, ReadOnlySpan<SettledRange> ranges)
    {
        int length = SizeOf(ranges.Length);
        var writer = new BodyWriter(destination[FrameHeader.Size..]);
        writer.WriteUInt16(checked((ushort)ranges.Length));
        writer.WriteUInt16(0);
        writer.WriteUInt32(0);
        foreach (ref readonly SettledRange range in ranges)
        {
            writer.WriteInt64(range.FirstOffset);
            writer.WriteUInt32(range.Count);
            writer.WriteUInt32(range.DeliveryId);
            writer.WriteUInt16((ushort)range.Outcome);
            writer.WriteUInt16(0);
            writer.WriteUInt32(0);
        }
        new FrameHeader(length, FrameType.Settled, 0, stream, tag).Write(destination);
        return length;
    }
}
