using LightQ.Protocol.Batches;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Reading;

/// <summary>Finds where an offset or a time is, on a reader thread: index first, then headers.</summary>
internal static class PositionLookup
{
    private const int WindowBytes = 64 * 1024;

    /// <summary>
    /// The target with its position; the readable end's when it is not reached, a damaged batch's when that is in the
    /// way. Without one when retention has removed it meanwhile: the reader sees the new start then.
    /// </summary>
    public static ReadTarget Locate(LogState log, ReadTarget target)
    {
        LogEnd readable = log.Readable.Read();
        bool byTime = target.Time >= 0;
        if (!byTime && target.Offset >= readable.Offset)
            return target.Offset == readable.Offset ? new ReadTarget(readable.Offset, readable.Position) : target;
        Segment? segment = byTime ? FindTime(log.Segments, target.Time) : log.Segments.FindOffset(target.Offset);
        if (segment is null && byTime)
            return new ReadTarget(readable.Offset, readable.Position);
        if (segment is null || !segment.TryAcquire())
            return target;
        try
        {
            SegmentIndex index = EnsureIndex(log, segment);
            bool found = byTime
                ? index.TryFindTime(target.Time, out SegmentIndexEntry entry)
                : index.TryFindOffset(target.Offset - 1, out entry); // One batch before, for its checksum.
            ReadTarget from = found
                ? new ReadTarget(entry.Offset, entry.Position)
                : new ReadTarget(segment.BaseOffset, segment.BasePosition);
            long limit = Math.Min(readable.Position, segment.EndPosition);
            return Walk(segment, from, limit, target);
        }
        finally
        {
            segment.Release();
        }
    }

    /// <summary>The segment's index: in memory, from its file, or made by walking the headers.</summary>
    public static SegmentIndex EnsureIndex(LogState log, Segment segment)
    {
        lock (segment.IndexLock)
        {
            if (segment.Index is { } known)
                return known;
            var index = new SegmentIndex(segment.BasePosition, segment.FileBytes);
            string path = log.PathOf(segment.Header.Ordinal, SegmentName.Index);
            bool isRead = false;
            log.TryDerived(
                path,
                () =>
                    isRead = SegmentIndexFile.TryRead(
                        log.Files,
                        path,
                        index,
                        segment.Crc,
                        segment.BasePosition,
                        segment.EndPosition
                    )
            );
            if (!isRead)
            {
                var window = new FileWindow(segment.File, WindowBytes);
                long position = segment.BasePosition;
                while (BatchScan.TryReadHeader(window, segment, position, segment.EndPosition, out BatchView header))
                {
                    index.Note(header.BaseOffset, header.AppendTime, position);
                    position += header.Length;
                }
            }
            segment.Index = index;
            return index;
        }
    }

    /// <summary>Whether a header is the one that is wanted.</summary>
    public static bool Reaches(in BatchView header, ReadTarget target) =>
        target.Time >= 0 ? header.AppendTime >= target.Time : header.NextOffset > target.Offset;

    private static ReadTarget Walk(Segment segment, ReadTarget from, long limit, ReadTarget target)
    {
        var window = new FileWindow(segment.File, WindowBytes);
        long position = from.Position,
            offset = from.Offset;
        uint? chain = position == segment.BasePosition ? segment.Crc : null;
        while (BatchScan.TryReadHeader(window, segment, position, limit, out BatchView header))
        {
            if (Reaches(header, target))
                return new ReadTarget(target.Time >= 0 ? header.BaseOffset : target.Offset, position, ChainCrc: chain);
            chain = header.HeaderCrc;
            position += header.Length;
            offset = header.NextOffset;
        }
        return new ReadTarget(target.Time >= 0 ? offset : Math.Max(offset, target.Offset), position, ChainCrc: chain);
    }

    private static Segment? FindTime(SegmentList segments, long time)
    {
        ReadOnlySpan<Segment> all = segments.All;
        for (int i = all.Length - 1; i > 0; i--)
        {
            if (all[i].Header.PreviousTime < time)
                return all[i];
        }
        return all.Length > 0 ? all[0] : null;
    }
}
