using LightQ.Protocol.Batches;

namespace LightQ.Protocol.Frames;

/// <summary>
/// From the server: a range of one whole, unmodified batch for a member of a group with explicit settlement.
/// </summary>
/// <remarks>
/// <code>
///  0             8       12           16              18   20       24
///  +-------------+-------+------------+---------------+----+--------+------------------------------
///  | firstOffset | count | deliveryId | deliveryCount | 0  | lockMs | batch, unless flag 1 is set
///  +-------------+-------+------------+---------------+----+--------+------------------------------
///  u64           u32     u32          u16             u16  u32
/// </code>
/// The consumer sees only the range. This is a view over the body: valid as long as its memory is. Allocates nothing.
/// </remarks>
public readonly ref struct GroupDeliverFrame
{
    /// <summary>Frame flag: the batch is the one that was last sent on this subscription, and is left out.</summary>
    public const byte SameBatch = 1;

    /// <summary>Frame flag: <see cref="GroupDelivery.IsDoubted"/>.</summary>
    public const byte Doubted = 2;

    private readonly BatchView _batch;

    /// <summary>Bytes in front of the batch: the frame's header and the delivery.</summary>
    public const int HeadSize = FrameHeader.Size + GroupDelivery.Size;

    /// <summary>Reads a body.</summary>
    /// <param name="flags">The frame header's flags.</param>
    /// <param name="body">The body.</param>
    /// <exception cref="ProtocolException">
    /// The body or its batch is cut off, a field is outside its range, or the range is not within the batch.
    /// </exception>
    public GroupDeliverFrame(byte flags, ReadOnlySpan<byte> body)
    {
        var reader = new BodyReader(body);
        long firstOffset = reader.ReadInt64();
        uint count = reader.ReadUInt32(),
            deliveryId = reader.ReadUInt32();
        ushort deliveryCount = reader.ReadUInt16();
        reader.ReadUInt16();
        Delivery = new GroupDelivery(
            firstOffset,
            count,
            deliveryId,
            deliveryCount,
            reader.ReadUInt32(),
            (flags & Doubted) != 0
        );
        HasBatch = (flags & SameBatch) == 0;
        if (firstOffset < 0 || count == 0 || deliveryId == 0 || deliveryCount == 0)
        {
            throw new ProtocolException(
                ErrorCode.MalformedFrame,
                $"A GroupDeliver frame's fields are out of range: {Delivery}."
            );
        }

        if (!HasBatch)
            return;
        if (!BatchView.TryRead(reader.ReadBytes(reader.Remaining), out _batch))
            throw new ProtocolException(ErrorCode.MalformedFrame, "A GroupDeliver frame's batch is cut off.");
        if (!IsWithin(_batch))
        {
            throw new ProtocolException(
                ErrorCode.MalformedFrame,
                $"A GroupDeliver frame's range is not within its batch: {Delivery}."
            );
        }
    }

    /// <summary>The range, and how it is locked.</summary>
    public GroupDelivery Delivery { get; }

    /// <summary>
    /// Whether the frame brings its batch. If not, it refers to the batch that was last sent on this subscription.
    /// </summary>
    public bool HasBatch { get; }

    /// <summary>The batch. Neither of its checksums has been verified.</summary>
    /// <exception cref="InvalidOperationException">The frame brings no batch.</exception>
    public BatchView Batch => HasBatch ? _batch : throw new InvalidOperationException("This frame left its batch out.");

    /// <summary>
    /// Whether <paramref name="batch"/> holds the whole range. Check the earlier batch when the frame brings none.
    /// </summary>
    public bool IsWithin(scoped in BatchView batch)
    {
        long skipped = Delivery.FirstOffset - batch.BaseOffset;
        return skipped >= 0 && batch.BaseOffset >= 0 && (ulong)skipped + Delivery.Count <= batch.OffsetSpan;
    }

    /// <summary>
    /// Writes all of a frame except the batch. The caller sends the batch after it, as it lies in the ring or segment.
    /// </summary>
    /// <param name="destination">At least <see cref="HeadSize"/> bytes.</param>
    /// <param name="stream">The subscription.</param>
    /// <param name="delivery">The range, and how it is locked.</param>
    /// <param name="batchLength">
    /// Bytes of the batch that follows; 0 when it is the one that was last sent on this subscription, and is left out.
    /// </param>
    /// <returns>Bytes written, <see cref="HeadSize"/>.</returns>
    public static int WriteHead(Span<byte> destination, uint stream, in GroupDelivery delivery, int batchLength)
    {
        byte flags = (byte)((batchLength == 0 ? SameBatch : 0) | (delivery.IsDoubted ? Doubted : 0));
        new FrameHeader(HeadSize + batchLength, FrameType.GroupDeliver, flags, stream, 0).Write(destination);
        var writer = new BodyWriter(destination[FrameHeader.Size..]);
        writer.WriteInt64(delivery.FirstOffset);
        writer.WriteUInt32(delivery.Count);
        writer.WriteUInt32(delivery.DeliveryId);
        writer.WriteUInt16(delivery.DeliveryCount);
        writer.WriteUInt16(0);
        writer.WriteUInt32(delivery.LockMilliseconds);
        return HeadSize;
    }
}
