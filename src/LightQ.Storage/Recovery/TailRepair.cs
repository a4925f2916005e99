using System.Buffers;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>
/// What to do with the bytes behind the last valid batch: a torn tail is cut, proven damage is reported.
/// </summary>
internal static class TailRepair
{
    private const int ChunkBytes = 1 << 20;

    /// <summary>A header that begins in a chunk may end behind it.</summary>
    private const int WindowBytes = ChunkBytes + BatchLayout.MaxHeaderSize;

    /// <summary>
    /// Looks behind a place for batches of this log, which say how far it had been synced when they were appended.
    /// </summary>
    /// <remarks>
    /// One write of several batches may reach the disk out of order, so a batch alone proves nothing. What clients
    /// published cannot pass for one: it lacks the code under the log's key. In a segment of format version 1 only
    /// offset and checksum tell.
    /// </remarks>
    /// <param name="file">The segment.</param>
    /// <param name="header">
    /// The segment's ordinal and the log's key; the rest is ignored, and need not be known.
    /// </param>
    /// <param name="from">Where to begin in it.</param>
    /// <param name="usedEnd">Behind the last byte that is not zero, or <paramref name="from"/>.</param>
    /// <returns>Everything below this offset had been synced; -1 when there is no proof.</returns>
    public static long FindProof(IStorageFile file, in SegmentHeader header, long from, out long usedEnd)
    {
        long proof = -1;
        usedEnd = from;
        long fileBytes = file.Length;
        byte[] buffer = ArrayPool<byte>.Shared.Rent(WindowBytes);
        for (long chunk = file.NextData(from); chunk < fileBytes; chunk = file.NextData(chunk + ChunkBytes))
        {
            ReadOnlySpan<byte> bytes = buffer.AsSpan(
                0,
                file.Read(buffer.AsSpan(0, (int)Math.Min(WindowBytes, fileBytes - chunk)), chunk)
            );
            int used = bytes.LastIndexOfAnyExcept((byte)0) + 1; // Most of the file may be filled with zeros ahead.
            if (used != 0)
                usedEnd = chunk + used;
            for (int at = BatchLayout.MagicAndVersion; at < used; at++)
            {
                int next = bytes[at..used].IndexOf(BatchLayout.Magic);
                if (next < 0)
                    break;
                at += next;
                int start = at - BatchLayout.MagicAndVersion;
                if (start >= ChunkBytes)
                    break; // The next chunk begins there.
                if (start % BatchLayout.Alignment != 0)
                    continue;
                ReadOnlySpan<byte> here = bytes[start..];
                here = here[..Math.Min(here.Length, BatchLayout.MaxHeaderSize)];
                if (
                    BatchScan.IsHeader(here, fileBytes - chunk - start, out BatchView batch)
                    && header.Key.Verify(header.Ordinal, chunk + start, batch)
                )
                {
                    proof = Math.Max(proof, BatchScan.ProvenBy(batch));
                }
            }
        }
        ArrayPool<byte>.Shared.Return(buffer);
        return proof;
    }

    /// <summary>Zeroes what is behind the end, so that nothing there is ever taken for a batch, and syncs.</summary>
    public static void Cut(IStorageFile file, long from, long usedEnd)
    {
        byte[] zeros = new byte[Math.Clamp(usedEnd - from, 0, ChunkBytes)];
        for (long position = from; position < usedEnd; position += zeros.Length)
            file.Write(zeros.AsSpan(0, (int)Math.Min(zeros.Length, usedEnd - position)), position);
        file.Sync();
    }
}
