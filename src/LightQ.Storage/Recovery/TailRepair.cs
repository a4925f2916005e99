using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Recovery;

/// <summary>What to do with the bytes behind the last valid batch: a torn tail is cut, proven damage is reported.</summary>
internal static class TailRepair
{
    private const int ChunkBytes = 1 << 20;

    /// <summary>Looks for a valid batch behind the end which shows that something at the end had been durable.</summary>
    /// <remarks>
    /// One write of several batches may reach the disk out of order, so a valid batch alone proves nothing. But each says how far
    /// the log was durable when it was appended. Batches with an offset at or below the end are left-overs of a recycled file.
    /// </remarks>
    /// <returns>The highest offset that is known to be behind the damage, or -1 when there is no proof.</returns>
    public static long FindProof(IStorageFile file, long from, long endOffset)
    {
        long proof = -1;
        long fileBytes = file.Length;
        byte[] buffer = new byte[Math.Clamp(fileBytes - from, 0, ChunkBytes + BatchLayout.MaxHeaderSize)];
        for (long chunk = from; chunk < fileBytes; chunk += ChunkBytes)
        {
            int read = file.Read(buffer.AsSpan(0, (int)Math.Min(buffer.Length, fileBytes - chunk)), chunk);
            ReadOnlySpan<byte> bytes = buffer.AsSpan(0, read);
            for (int at = 0; at < Math.Min(read, ChunkBytes); at += BatchLayout.Alignment)
            {
                ReadOnlySpan<byte> here = bytes[at..];
                here = here[..Math.Min(here.Length, BatchLayout.MaxHeaderSize)];
                if (BatchScan.IsHeader(here, fileBytes - chunk - at, out BatchView batch) && Proves(batch, endOffset))
                    proof = Math.Max(proof, batch.NextOffset - 1);
            }
        }
        return proof;
    }

    /// <summary>Zeroes everything behind the end, so that nothing there is ever taken for a batch, and syncs.</summary>
    public static void Cut(IStorageFile file, Segment segment, LogEnd end)
    {
        long fileBytes = segment.FileBytes, from = segment.FilePosition(end.Position);
        byte[] buffer = new byte[Math.Clamp(fileBytes - from, 0, ChunkBytes)];
        for (long position = from; position < fileBytes; position += buffer.Length)
        {
            Span<byte> bytes = buffer.AsSpan(0, file.Read(buffer.AsSpan(0, (int)Math.Min(buffer.Length, fileBytes - position)), position));
            if (!bytes.ContainsAnyExcept((byte)0))
                continue;
            bytes.Clear();
            file.Write(bytes, position);
        }
        file.Sync();
    }

    private static bool Proves(in BatchView batch, long endOffset) =>
        batch.BaseOffset > endOffset && batch.DurableBack != uint.MaxValue && batch.BaseOffset - batch.DurableBack > endOffset;
}
