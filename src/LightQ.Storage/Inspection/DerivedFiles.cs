using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>
/// Compares a segment's index and snapshot of producers with the segment. Both are rebuilt when they are bad or absent.
/// </summary>
internal static class DerivedFiles
{
    /// <summary>Checks both, if they are there.</summary>
    /// <param name="directory">The journal's directory.</param>
    /// <param name="files">The file system.</param>
    /// <param name="segment">The segment, with the index that a walk over all of it made.</param>
    /// <param name="end">Where it ends.</param>
    /// <param name="report">Gets what is found.</param>
    public static void Check(
        string directory,
        IFileSystem files,
        Segment segment,
        LogEnd end,
        Action<JournalFinding> report
    )
    {
        string index = SegmentName.Of(segment.Header.Ordinal, SegmentName.Index);
        if (files.Exists(Path.Combine(directory, index)))
            CheckIndex(Path.Combine(directory, index), files, segment, end, report);
        string producers = SegmentName.Of(segment.Header.Ordinal, SegmentName.Producers);
        if (
            files.Exists(Path.Combine(directory, producers))
            && ProducerSnapshotFile.Read(files, Path.Combine(directory, producers), segment) is null
        )
        {
            report(
                new JournalFinding(
                    FindingKind.Note,
                    producers,
                    0,
                    -1,
                    -1,
                    "the snapshot of producers is not valid; it is rebuilt from the batches"
                )
            );
        }
    }

    private static void CheckIndex(
        string path,
        IFileSystem files,
        Segment segment,
        LogEnd end,
        Action<JournalFinding> report
    )
    {
        string name = Path.GetFileName(path);
        var stored = new SegmentIndex(segment.BasePosition, segment.FileBytes);
        if (!SegmentIndexFile.TryRead(files, path, stored, segment.Crc, segment.BasePosition, end.Position))
        {
            report(
                new JournalFinding(
                    FindingKind.Note,
                    name,
                    0,
                    -1,
                    -1,
                    "the index is not valid; it is rebuilt when it is needed"
                )
            );
            return;
        }
        // The index of a recovered tail may name other batches than a new index would. An entry is wrong only when it
        // does not fit its own batch.
        HashSet<SegmentIndexEntry> batches = [.. segment.Index!.Entries];
        foreach (SegmentIndexEntry entry in stored.Entries)
        {
            if (batches.Contains(entry))
                continue;
            bool isBatch =
                BatchScan.TryReadHeader(
                    new FileWindow(segment.File, 4096),
                    segment,
                    entry.Position,
                    end.Position,
                    out Protocol.Batches.BatchView header
                )
                && header.BaseOffset == entry.Offset
                && header.AppendTime == entry.AppendTime;
            if (isBatch)
                continue;
            report(
                new JournalFinding(
                    FindingKind.Note,
                    name,
                    0,
                    entry.Offset,
                    entry.Offset,
                    "the index has an entry that does not lead to its batch; delete the file, it is rebuilt when it "
                        + "is needed"
                )
            );
            return;
        }
    }
}
