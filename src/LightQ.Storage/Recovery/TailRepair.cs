using System.Buffers;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;

namespace LightQ.Storage.Recovery;

/// <summary>What to do with the bytes behind the last valid batch: a torn tail is cut, proven damage is reported.</summary>
internal static class TailRepair
{
    private const int ChunkBytes = 1 << 20;

    /// <summary>A header that begins in a chunk may end behind it.</summary>
    private const int WindowBytes = ChunkBytes + BatchLayout.MaxHeaderSize;

    /// <summary>Looks for a valid batch behind the end which shows that something at the end had been durable.</summary>
    /// <remarks>
    /// One write of several batches may reach the disk out of order, so a valid batch alone proves nothing. But each says how far
    /// the log was durable when it was appended. Batches with an offset at or below the end are left-overs of a recycled file.
    /// </remarks>
    /// <param name="file">The segment.</param>
    /// <param name="from">Where the valid batches end in it.</param>
    /// <param name="endOffset">The offset that the next batch would have.</param>
    /// <param name="usedEnd">Behind the last byte that is not zero, or <paramref name="from"/>.</param>
    /// <returns>The highest offset that is known to be behind the damage, or -1 when there is no proof.</returns>
    public static long FindProof(IStorageFile file, long from, long endOffset, out long usedEnd)
    {
        long proof = -1;
        usedEnd = from;
        long fileBytes = file.Length;
        byte[] buffer = ArrayPool<byte>.Shared.Rent(WindowBytes);
        for (long chunk = file.NextData(from); chunk < fileBytes; chunk = file.NextData(chunk + ChunkBytes))
        {
            ReadOnlySpan<byte> bytes = buffer.AsSpan(0, file.Read(buffer.AsSpan(0, (int)Math.Min(WindowBytes, fileBytes - chunk)), chunk));
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
                if (BatchScan.IsHeader(here, fileBytes - chunk - start, out BatchView batch) && Proves(batch, endOffset))
                    proof = Math.Max(proof, batch.NextOffset - 1);
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

    private static bool Proves(in BatchView batch, long endOffset) =>
        batch.BaseOffset > endOffset && batch.DurableBack != uint.MaxValue && batch.BaseOffset - batch.DurableBack > endOffset;
}
