using System.Buffers.Binary;
using LightQ.Protocol.Checksums;

namespace LightQ.Protocol.Batches;

/// <summary>Writes batch headers: a producer's, and the broker's stamp on top of it.</summary>
public static class BatchWriter
{
    /// <summary>Writes the header in front of records that are already in place, pads behind them, and computes both checksums.</summary>
    /// <param name="batch">96 bytes for the header, then the records, then at least 7 bytes for padding.</param>
    /// <param name="recordBytes">Bytes of the records.</param>
    /// <param name="recordCount">How many records.</param>
    /// <param name="origin">Who sends it.</param>
    /// <param name="timestamp">When the batch was opened, unix microseconds.</param>
    /// <param name="kind">What it holds.</param>
    /// <param name="offsetSpan">How many offsets it covers; by default one a record.</param>
    /// <returns>The batch's length in bytes.</returns>
    public static int Complete(
        Span<byte> batch,
        int recordBytes,
        int recordCount,
        in BatchOrigin origin,
        long timestamp,
        BatchKind kind = BatchKind.Data,
        uint? offsetSpan = null)
    {
        int end = BatchLayout.HeaderSize + recordBytes;
        int length = BatchLayout.Align(end);
        batch[end..length].Clear();
        Span<byte> header = batch[..BatchLayout.HeaderSize];
        header.Clear();
        BinaryPrimitives.WriteInt32LittleEndian(header, length);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.PayloadCrc..], Crc32C.Compute(batch[BatchLayout.HeaderSize..length]));
        header[BatchLayout.MagicAndVersion] = BatchLayout.Magic;
        header[BatchLayout.MagicAndVersion + 1] = BatchLayout.Version;
        BinaryPrimitives.WriteUInt16LittleEndian(header[BatchLayout.HeaderLength..], BatchLayout.HeaderSize);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.Flags..], (uint)kind << 4);
        BinaryPrimitives.WriteInt32LittleEndian(header[BatchLayout.RecordCount..], recordCount);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.OffsetSpan..], offsetSpan ?? (uint)recordCount);
        BinaryPrimitives.WriteInt32LittleEndian(header[BatchLayout.UncompressedLength..], recordBytes);
        BinaryPrimitives.WriteInt64LittleEndian(header[BatchLayout.Timestamp..], timestamp);
        BinaryPrimitives.WriteUInt64LittleEndian(header[BatchLayout.ProducerId..], origin.ProducerId);
        BinaryPrimitives.WriteUInt64LittleEndian(header[BatchLayout.BaseSequence..], origin.BaseSequence);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.ProducerEpoch..], origin.ProducerEpoch);
        WriteHeaderCrc(header);
        return length;
    }

    /// <summary>Fills in the broker's fields and recomputes the header's checksum; the payload stays as it is.</summary>
    /// <param name="batch">A whole batch whose header is valid.</param>
    /// <param name="stamp">The broker's fields.</param>
    /// <returns>The new header checksum, which the next batch refers to.</returns>
    public static uint Stamp(Span<byte> batch, in BatchStamp stamp)
    {
        BinaryPrimitives.WriteInt64LittleEndian(batch[BatchLayout.BaseOffset..], stamp.BaseOffset);
        BinaryPrimitives.WriteInt64LittleEndian(batch[BatchLayout.AppendTime..], stamp.AppendTime);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.LeaderEpoch..], stamp.LeaderEpoch);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.PreviousCrc..], stamp.PreviousCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.DurableBack..], stamp.DurableBack);
        return WriteHeaderCrc(batch[..BinaryPrimitives.ReadUInt16LittleEndian(batch[BatchLayout.HeaderLength..])]);
    }

    private static uint WriteHeaderCrc(Span<byte> header)
    {
        uint crc = BatchView.ComputeHeaderCrc(header);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.HeaderCrc..], crc);
        return crc;
    }
}
