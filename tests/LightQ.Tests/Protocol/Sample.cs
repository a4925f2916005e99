using System.Buffers.Binary;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Tests.Protocol;

/// <summary>
/// The batch that the golden bytes speak of: a plain record, one with key and headers, a tombstone, an empty one with
/// an empty key.
/// </summary>
internal static class Sample
{
    public const long Time = 1_700_000_000_000_000;

    public static readonly BatchOrigin Origin = new(7, 2, 100);

    public static readonly BatchStamp Stamp = new(1000, Time + 5, 3, 0xCAFEF00D, 12);

    public static byte[] Headers()
    {
        var headers = new byte[64];
        int length = RecordWriter.WriteHeader(headers, "a"u8, "xy"u8);
        length += RecordWriter.WriteWellKnownHeader(headers.AsSpan(length), WellKnownHeader.ContentType, "text"u8);
        return headers[..length];
    }

    public static byte[] Batch()
    {
        var buffer = new byte[512];
        int at = BatchLayout.HeaderSize;
        at += RecordWriter.Write(buffer.AsSpan(at), "hello"u8);
        at += RecordWriter.Write(buffer.AsSpan(at), "world!"u8, "k1"u8, hasKey: true, Headers());
        at += RecordWriter.Write(buffer.AsSpan(at), default, "k1"u8, hasKey: true, default, isTombstone: true);
        at += RecordWriter.Write(buffer.AsSpan(at), default, default, hasKey: true, default);
        return buffer[..BatchWriter.Complete(buffer, at - BatchLayout.HeaderSize, 4, Origin, Time)];
    }

    public static byte[] StampedBatch()
    {
        byte[] batch = Batch();
        BatchWriter.Stamp(batch, Stamp);
        return batch;
    }

    /// <summary>A batch of plain records of the given body lengths, filled with their index.</summary>
    public static byte[] BatchOf(params int[] bodyLengths)
    {
        var buffer = new byte[
            BatchLayout.HeaderSize + bodyLengths.Sum(length => RecordWriter.SizeOf(length)) + BatchLayout.Alignment
        ];
        int at = BatchLayout.HeaderSize;
        for (int i = 0; i < bodyLengths.Length; i++)
        {
            var body = new byte[bodyLengths[i]];
            Array.Fill(body, (byte)i);
            at += RecordWriter.Write(buffer.AsSpan(at), body);
        }
        return buffer[..BatchWriter.Complete(buffer, at - BatchLayout.HeaderSize, bodyLengths.Length, Origin, Time)];
    }

    /// <summary>
    /// A copy of <paramref name="batch"/> with four bytes replaced and the header's checksum made right again.
    /// </summary>
    public static byte[] WithUInt32(byte[] batch, int offset, uint value)
    {
        byte[] copy = [.. batch];
        BinaryPrimitives.WriteUInt32LittleEndian(copy.AsSpan(offset), value);
        return Resealed(copy);
    }

    /// <summary>Makes the header's checksum right again.</summary>
    public static byte[] Resealed(byte[] batch)
    {
        int headerLength = Math.Clamp(
            (int)BinaryPrimitives.ReadUInt16LittleEndian(batch.AsSpan(BatchLayout.HeaderLength)),
            BatchLayout.HeaderSize,
            batch.Length
        );
        uint crc = BatchView.ComputeHeaderCrc(batch.AsSpan(0, headerLength));
        BinaryPrimitives.WriteUInt32LittleEndian(batch.AsSpan(BatchLayout.HeaderCrc), crc);
        return batch;
    }
}
