using System.Buffers.Binary;
using LightQ.Protocol.Batches;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>Finds where valid batches go on behind damage.</summary>
internal static class BatchSearch
{
    /// <summary>The first valid header behind a place that can belong to the log there.</summary>
    /// <remarks>
    /// Tried first where the damaged batch says that it ends, because its payload may hold anything, also the image of
    /// a batch. What a recycled file still holds has offsets at or below the place's.
    /// </remarks>
    /// <param name="window">The segment's file.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="at">Behind the last valid batch.</param>
    /// <param name="limit">Log position that no batch passes.</param>
    /// <param name="offsetLimit">Offset that no batch passes.</param>
    /// <param name="found">Where the batch begins, with the checksum that it refers to.</param>
    public static bool TryFind(
        FileWindow window,
        Segment segment,
        LogEnd at,
        long limit,
        long offsetLimit,
        out LogEnd found
    )
    {
        long hinted = HintedEnd(window, segment, at, limit, out uint crc);
        if (hinted > 0 && Fits(window, segment, hinted, at, limit, offsetLimit, out found) && found.ChainCrc == crc)
            return true;
        for (
            long position = at.Position + BatchLayout.HeaderSize;
            position <= limit - BatchLayout.HeaderSize;
            position += BatchLayout.Alignment
        )
        {
            if (Fits(window, segment, position, at, limit, offsetLimit, out found))
                return true;
        }
        found = default;
        return false;
    }

    private static bool Fits(
        FileWindow window,
        Segment segment,
        long position,
        LogEnd at,
        long limit,
        long offsetLimit,
        out LogEnd found
    )
    {
        found = default;
        if (!BatchScan.TryReadHeader(window, segment, position, limit, out BatchView header))
            return false;
        if (header.BaseOffset <= at.Offset || header.NextOffset > offsetLimit || header.AppendTime < at.AppendTime)
            return false;
        found = new LogEnd(position, header.BaseOffset, at.AppendTime, at.Ordinal, header.PreviousCrc);
        return true;
    }

    private static long HintedEnd(FileWindow window, Segment segment, LogEnd at, long limit, out uint crc)
    {
        crc = 0;
        if (limit - at.Position < BatchLayout.HeaderSize)
            return 0;
        ReadOnlySpan<byte> bytes = window.Get(segment.FilePosition(at.Position), 2 * sizeof(int));
        if (bytes.Length < 2 * sizeof(int))
            return 0;
        int length = BinaryPrimitives.ReadInt32LittleEndian(bytes);
        crc = BinaryPrimitives.ReadUInt32LittleEndian(bytes[BatchLayout.HeaderCrc..]);
        bool isLength =
            length >= BatchLayout.HeaderSize && length % BatchLayout.Alignment == 0 && length < limit - at.Position;
        return isLength ? at.Position + length : 0;
    }
}
