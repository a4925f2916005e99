using System.Buffers.Binary;
using LightQ.Protocol.Checksums;
using LightQ.Protocol.Records;

namespace LightQ.Protocol.Batches;

/// <summary>Writes batch headers: a producer's, and the broker's stamp on top of it.</summary>
public static class BatchWriter
{
    /// <summary>Bytes of the note that a delayed message is cancelled.</summary>
    public const int CancellationSize = 120;

    /// <summary>
    /// Writes the header in front of records that are already in place, pads after them, and computes both checksums.
    /// </summary>
    /// <param name="batch">96 bytes for the header, then the records, then at least 7 bytes for padding.</param>
    /// <param name="recordBytes">Bytes of the records.</param>
    /// <param name="recordCount">How many records.</param>
    /// <param name="origin">The producer that sends the batch.</param>
    /// <param name="timestamp">When the batch was opened, unix microseconds.</param>
    /// <param name="kind">What the batch holds.</param>
    /// <param name="offsetSpan">How many offsets it covers; by default one for each record.</param>
    /// <param name="flags">What else it is, beside its kind.</param>
    /// <returns>The batch's length in bytes.</returns>
    public static int Complete(
        Span<byte> batch,
        int recordBytes,
        int recordCount,
        in BatchOrigin origin,
        long timestamp,
        BatchKind kind = BatchKind.Data,
        uint? offsetSpan = null,
        uint flags = 0
    )
    {
        Span<byte> header = Begin(batch, BatchLayout.HeaderSize, recordBytes, recordCount, origin, timestamp);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.Flags..], ((uint)kind << 4) | flags);
        BinaryPrimitives.WriteInt32LittleEndian(header[BatchLayout.UncompressedLength..], recordBytes);
        if (offsetSpan is { } span)
            BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.OffsetSpan..], span);
        WriteHeaderCrc(header);
        return new BatchView(batch).Length;
    }

    /// <summary>
    /// Writes a producer's header in front of a payload that is already in place, pads after it, and computes both
    /// checksums.
    /// </summary>
    /// <param name="batch">
    /// <see cref="BatchProperties.HeaderLength"/> bytes for the header, then the payload, then at least 7 bytes for
    /// padding.
    /// </param>
    /// <param name="payloadBytes">Bytes of the payload: the records, or the codec's output.</param>
    /// <param name="recordCount">How many records.</param>
    /// <param name="uncompressedLength">Bytes of the records.</param>
    /// <param name="codec">How they are compressed.</param>
    /// <param name="properties">When the messages are due and when they expire, and the id of the only message.</param>
    /// <param name="origin">The producer that sends the batch.</param>
    /// <param name="timestamp">When the batch was opened, unix microseconds.</param>
    /// <returns>The batch's length in bytes.</returns>
    public static int Complete(
        Span<byte> batch,
        int payloadBytes,
        int recordCount,
        int uncompressedLength,
        BatchCodec codec,
        in BatchProperties properties,
        in BatchOrigin origin,
        long timestamp
    )
    {
        Span<byte> header = Begin(batch, properties.HeaderLength, payloadBytes, recordCount, origin, timestamp);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.Flags..], (uint)codec | properties.Flags);
        BinaryPrimitives.WriteInt32LittleEndian(header[BatchLayout.UncompressedLength..], uncompressedLength);
        properties.Write(header[BatchLayout.HeaderSize..]);
        WriteHeaderCrc(header);
        return new BatchView(batch).Length;
    }

    /// <summary>
    /// Fills in the broker's fields, turns times that count from the append into points in time, and recomputes the
    /// header's checksum; the payload stays as it is.
    /// </summary>
    /// <param name="batch">A whole batch whose header is valid.</param>
    /// <param name="stamp">The broker's fields.</param>
    /// <returns>The new header checksum, which the next batch repeats.</returns>
    public static uint Stamp(Span<byte> batch, in BatchStamp stamp)
    {
        if ((new BatchView(batch).Flags & BatchLayout.HasRelativeTimes) != 0)
            MakeAbsolute(batch, stamp.AppendTime);
        BinaryPrimitives.WriteInt64LittleEndian(batch[BatchLayout.BaseOffset..], stamp.BaseOffset);
        BinaryPrimitives.WriteInt64LittleEndian(batch[BatchLayout.AppendTime..], stamp.AppendTime);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.LeaderEpoch..], stamp.LeaderEpoch);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.PreviousCrc..], stamp.PreviousCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.DurableBack..], stamp.DurableBack);
        BinaryPrimitives.WriteUInt64LittleEndian(batch[BatchLayout.Mac..], stamp.Mac);
        if (stamp.User != 0)
            BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.ProducerEpoch..], stamp.User);
        return WriteHeaderCrc(batch[..BinaryPrimitives.ReadUInt16LittleEndian(batch[BatchLayout.HeaderLength..])]);
    }

    /// <summary>
    /// Turns times that count from the append into points in time. The header's checksum is then to be computed anew.
    /// </summary>
    /// <param name="batch">A whole batch, or its header.</param>
    /// <param name="from">What they count from, unix microseconds.</param>
    public static void MakeAbsolute(Span<byte> batch, long from)
    {
        uint flags = new BatchView(batch).Flags;
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.Flags..], flags & ~BatchLayout.HasRelativeTimes);
        AddToTimes(batch, BatchExtension.DueTime, from);
        AddToTimes(batch, BatchExtension.Expiry, from);
    }

    /// <summary>Moves a batch's expiry. The header's checksum is then to be computed anew.</summary>
    /// <param name="batch">A whole batch, or its header.</param>
    /// <param name="by">By so many microseconds.</param>
    public static void MoveExpiry(Span<byte> batch, long by) => AddToTimes(batch, BatchExtension.Expiry, by);

    private static void AddToTimes(Span<byte> batch, byte id, long microseconds)
    {
        int end = new BatchView(batch).HeaderLength;
        for (
            int at = BatchLayout.HeaderSize;
            at + BatchExtension.Size <= end;
            at += BatchExtension.HeadSize + batch[at + 1]
        )
        {
            if (batch[at] != id || batch[at + 1] != sizeof(long))
                continue;
            Span<byte> value = batch[(at + BatchExtension.HeadSize)..];
            Int128 sum = (Int128)BinaryPrimitives.ReadInt64LittleEndian(value) + microseconds;
            BinaryPrimitives.WriteInt64LittleEndian(value, (long)Int128.Clamp(sum, 1, long.MaxValue));
        }
    }

    /// <summary>
    /// Turns a delayed batch into its delivery: without a due time but with the offset at which it was published, and
    /// without a producer, because no producer sends it. The payload and everything else stay as they are. Stamping the
    /// batch computes the checksum of the header.
    /// </summary>
    /// <param name="batch">A whole delayed batch as it was stamped, or a copy of one.</param>
    /// <param name="originOffset">The base offset at which it was published.</param>
    public static void MakeDelivery(Span<byte> batch, long originOffset)
    {
        var view = new BatchView(batch);
        ReadOnlySpan<byte> left = view.Extensions;
        int at = BatchLayout.HeaderSize;
        for (; left[0] != BatchExtension.DueTime; left = batch[at..view.HeaderLength])
            at += 2 + left[1];
        BatchProperties.Write(batch[at..], BatchExtension.OriginOffset, originOffset);
        BinaryPrimitives.WriteUInt32LittleEndian(
            batch[BatchLayout.Flags..],
            (view.Flags & ~BatchLayout.HasDueTime) | BatchLayout.HasOrigin
        );
        BinaryPrimitives.WriteUInt64LittleEndian(batch[BatchLayout.ProducerId..], 0);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.ProducerEpoch..], 0);
    }

    /// <summary>
    /// Turns a delayed batch into a copy that replaces it in the log, due at the same time. No producer sends the copy:
    /// the field for the producer's sequence holds the offset at which the batch was published, so the length stays the
    /// same. Stamping the batch computes the checksum of the header.
    /// </summary>
    /// <param name="batch">A whole delayed batch as it was stamped, or a copy of one.</param>
    /// <param name="originOffset">The base offset at which it was published.</param>
    public static void MakeCopy(Span<byte> batch, long originOffset)
    {
        uint flags = new BatchView(batch).Flags;
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.Flags..], flags | BatchLayout.HasOrigin);
        BinaryPrimitives.WriteUInt64LittleEndian(batch[BatchLayout.ProducerId..], 0);
        BinaryPrimitives.WriteInt64LittleEndian(batch[BatchLayout.BaseSequence..], originOffset);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.ProducerEpoch..], 0);
    }

    /// <summary>
    /// Writes the note that a delayed message is cancelled: a batch of kind <see cref="BatchKind.Control"/> with one
    /// empty record, which consumers skip.
    /// </summary>
    /// <param name="batch"><see cref="CancellationSize"/> bytes.</param>
    /// <param name="originOffset">The base offset at which the delayed batch was published.</param>
    /// <param name="messageOffset">The offset at which the message was published; in base sequence.</param>
    /// <param name="timestamp">Now, unix microseconds.</param>
    public static void MakeCancellation(Span<byte> batch, long originOffset, long messageOffset, long timestamp)
    {
        const int HeaderLength = BatchLayout.HeaderSize + BatchExtension.Size;
        int record = RecordWriter.Write(batch[HeaderLength..], default);
        var origin = new BatchOrigin(0, 0, (ulong)messageOffset);
        Span<byte> header = Begin(batch, HeaderLength, record, 1, origin, timestamp);
        BinaryPrimitives.WriteUInt32LittleEndian(
            header[BatchLayout.Flags..],
            ((uint)BatchKind.Control << 4) | BatchLayout.HasOrigin
        );
        BinaryPrimitives.WriteInt32LittleEndian(header[BatchLayout.UncompressedLength..], record);
        BatchProperties.Write(header[BatchLayout.HeaderSize..], BatchExtension.OriginOffset, originOffset);
        WriteHeaderCrc(header);
    }

    /// <summary>
    /// Has a batch hold other records than before, which are already in place behind its header: pads after them, and
    /// computes the payload's checksum. Stamping the batch computes that of the header.
    /// </summary>
    /// <param name="batch">The header, then the payload, then at least 7 bytes for padding.</param>
    /// <param name="payloadBytes">Bytes of the payload: the records, or the codec's output.</param>
    /// <param name="recordCount">How many records.</param>
    /// <param name="uncompressedLength">Bytes of the records.</param>
    /// <param name="codec">How they are compressed.</param>
    /// <returns>The batch's length in bytes.</returns>
    public static int Refill(
        Span<byte> batch,
        int payloadBytes,
        int recordCount,
        int uncompressedLength,
        BatchCodec codec
    )
    {
        int headerLength = BinaryPrimitives.ReadUInt16LittleEndian(batch[BatchLayout.HeaderLength..]),
            end = headerLength + payloadBytes,
            length = BatchLayout.Align(end);
        batch[end..length].Clear();
        uint flags = BinaryPrimitives.ReadUInt32LittleEndian(batch[BatchLayout.Flags..]) & ~BatchLayout.CodecMask;
        BinaryPrimitives.WriteInt32LittleEndian(batch, length);
        BinaryPrimitives.WriteUInt32LittleEndian(
            batch[BatchLayout.PayloadCrc..],
            Crc32C.Compute(batch[headerLength..length])
        );
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.Flags..], flags | (uint)codec);
        BinaryPrimitives.WriteInt32LittleEndian(batch[BatchLayout.RecordCount..], recordCount);
        BinaryPrimitives.WriteInt32LittleEndian(batch[BatchLayout.OffsetSpan..], recordCount);
        BinaryPrimitives.WriteInt32LittleEndian(batch[BatchLayout.UncompressedLength..], uncompressedLength);
        return length;
    }

    private static Span<byte> Begin(
        Span<byte> batch,
        int headerLength,
        int payloadBytes,
        int recordCount,
        in BatchOrigin origin,
        long timestamp
    )
    {
        int end = headerLength + payloadBytes;
        int length = BatchLayout.Align(end);
        batch[end..length].Clear();
        Span<byte> header = batch[..headerLength];
        header.Clear();
        BinaryPrimitives.WriteInt32LittleEndian(header, length);
        BinaryPrimitives.WriteUInt32LittleEndian(
            header[BatchLayout.PayloadCrc..],
            Crc32C.Compute(batch[headerLength..length])
        );
        header[BatchLayout.MagicAndVersion] = BatchLayout.Magic;
        header[BatchLayout.MagicAndVersion + 1] = BatchLayout.Version;
        BinaryPrimitives.WriteUInt16LittleEndian(header[BatchLayout.HeaderLength..], (ushort)headerLength);
        BinaryPrimitives.WriteInt32LittleEndian(header[BatchLayout.RecordCount..], recordCount);
        BinaryPrimitives.WriteInt32LittleEndian(header[BatchLayout.OffsetSpan..], recordCount);
        BinaryPrimitives.WriteInt64LittleEndian(header[BatchLayout.Timestamp..], timestamp);
        BinaryPrimitives.WriteUInt64LittleEndian(header[BatchLayout.ProducerId..], origin.ProducerId);
        BinaryPrimitives.WriteUInt64LittleEndian(header[BatchLayout.BaseSequence..], origin.BaseSequence);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.ProducerEpoch..], origin.ProducerEpoch);
        return header;
    }

    private static uint WriteHeaderCrc(Span<byte> header)
    {
        uint crc = BatchView.ComputeHeaderCrc(header);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.HeaderCrc..], crc);
        return crc;
    }
}
