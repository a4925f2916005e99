using System.Buffers.Binary;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>
/// Writes a batch of kind gap over a hole. It is as long as the hole, so that everything behind it stays where it is.
/// </summary>
internal static class GapBatch
{
    private static readonly byte[] Zeros = new byte[256 * 1024];

    /// <summary>Fills the hole.</summary>
    /// <param name="file">The segment's new file.</param>
    /// <param name="segment">The segment of the file.</param>
    /// <param name="position">Where in it the hole begins.</param>
    /// <param name="hole">The hole.</param>
    /// <param name="epoch">The log's epoch.</param>
    public static void Write(IStorageFile file, in SegmentHeader segment, long position, in LogHole hole, uint epoch)
    {
        int length = checked((int)hole.Bytes);
        uint payloadCrc = 0;
        for (int at = BatchLayout.HeaderSize; at < length; at += Zeros.Length)
        {
            ReadOnlySpan<byte> zeros = Zeros.AsSpan(0, Math.Min(Zeros.Length, length - at));
            payloadCrc = Crc32C.Append(payloadCrc, zeros);
            file.Write(zeros, position + at);
        }
        Span<byte> header = stackalloc byte[BatchLayout.HeaderSize];
        var stamp = new BatchStamp(hole.Start.Offset, hole.Start.AppendTime, epoch, hole.Start.ChainCrc, 0);
        WriteHeader(header, hole, length, payloadCrc, segment.Key.Sign(segment.Ordinal, position, length, stamp));
        file.Write(header, position);
    }

    private static void WriteHeader(
        Span<byte> header,
        in LogHole hole,
        int length,
        uint payloadCrc,
        in BatchStamp stamp
    )
    {
        header.Clear();
        BinaryPrimitives.WriteInt32LittleEndian(header, length);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.PayloadCrc..], payloadCrc);
        header[BatchLayout.MagicAndVersion] = BatchLayout.Magic;
        header[BatchLayout.MagicAndVersion + 1] = BatchLayout.Version;
        BinaryPrimitives.WriteUInt16LittleEndian(header[BatchLayout.HeaderLength..], BatchLayout.HeaderSize);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.Flags..], (uint)BatchKind.Gap << 4);
        BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.OffsetSpan..], checked((uint)hole.Offsets));
        BatchWriter.Stamp(header, stamp);
        if (hole.NextCrc is not { } crc)
            return;
        // The next batch refers to the checksum of the batch that was here. A sequence number without a producer means
        // nothing: it is the free field.
        CrcSolver.Solve(
            header[..BatchLayout.HeaderCrc],
            header[BatchLayout.PayloadCrc..],
            BatchLayout.BaseSequence - BatchLayout.PayloadCrc,
            crc
        );
        BatchWriter.Stamp(header, stamp);
    }
}
