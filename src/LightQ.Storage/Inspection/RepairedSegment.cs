using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>Writes a segment anew: what was valid, byte for byte, and gaps over the rest.</summary>
internal static class RepairedSegment
{
    private const int ScanBytes = 1 << 20;

    public static void Write(string directory, IFileSystem files, SurveyedSegment segment, uint epoch)
    {
        string path = Path.Combine(directory, segment.Name);
        string temporary = path + SegmentName.Temporary;
        // The old file's index points into what is lost.
        files.Delete(Path.Combine(directory, SegmentName.Of(segment.Ordinal, SegmentName.Index)));
        long bytes = Math.Max(segment.File?.FileBytes ?? 0, segment.FilePosition(segment.End.Position));
        if (segment.File is { } old)
            JournalRecovery.CopyFile(files, old.Path, temporary);
        using (IStorageFile file = files.Open(temporary, segment.File is null ? OpenMode.Create : OpenMode.ReadWrite))
        {
            file.Allocate(bytes);
            byte[] page = new byte[SegmentHeader.PageSize];
            segment.Header.Write(page);
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
