using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>Writes a segment anew: what was valid, byte for byte, and gaps over the rest.</summary>
internal static class RepairedSegment
{
    private const int ScanBytes = 1 << 20;

    /// <summary>Writes it beside the old file, and then in its place.</summary>
    /// <param name="directory">The journal's directory.</param>
    /// <param name="files">Where.</param>
    /// <param name="segment">What it must be.</param>
    /// <param name="epoch">The log's epoch.</param>
    /// <param name="nextBytes">
    /// The length of the next segment's file, 0 when there is none; null for a file that grows, whose length says
    /// nothing.
    /// </param>
    public static void Write(string directory, IFileSystem files, SurveyedSegment segment, uint epoch, long? nextBytes)
    {
        string path = Path.Combine(directory, segment.Name);
        string temporary = path + SegmentName.Temporary;
        // The old file's index points into what is lost.
        files.Delete(Path.Combine(directory, SegmentName.Of(segment.Ordinal, SegmentName.Index)));
        long bytes = segment.FileBytes;
        if (segment.File is { } old)
            JournalRecovery.CopyFile(files, old.Path, temporary);
        using (IStorageFile file = files.Open(temporary, segment.File is null ? OpenMode.Create : OpenMode.ReadWrite))
        {
            file.Allocate(bytes);
            byte[] page = new byte[SegmentHeader.PageSize];
            uint crc = segment.Header.Write(page);
            if (nextBytes is { } next)
                new SegmentExtent(bytes, next).Write(page, crc);
            file.Write(page, 0);
            foreach (LogHole hole in segment.Holes)
                GapBatch.Write(file, segment.Header, segment.FilePosition(hole.Start.Position), hole, epoch);
            file.Sync();
        }
        files.Rename(temporary, path);
        files.SyncDirectory(directory);
        WriteIndex(directory, files, segment, path, bytes);
    }

    private static void WriteIndex(
        string directory,
        IFileSystem files,
        SurveyedSegment surveyed,
        string path,
        long bytes
    )
    {
        var segment = new Segment(files, path, surveyed.Header, bytes, files.Open(path, OpenMode.Read));
        try
        {
            segment.Index = new SegmentIndex(segment.BasePosition, bytes);
            var start = new LogEnd(
                segment.BasePosition,
                segment.BaseOffset,
                surveyed.Header.PreviousTime,
                surveyed.Ordinal,
                segment.Crc
            );
            BatchScan.Run(
                new FileWindow(segment.File, ScanBytes),
                segment,
                start,
                surveyed.End.Position,
                payloads: false
            );
            SegmentIndexFile.Write(
                files,
                Path.Combine(directory, SegmentName.Of(surveyed.Ordinal, SegmentName.Index)),
                segment.Index,
                segment.Crc
            );
        }
        finally
        {
            segment.Retire();
        }
    }
}
