using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>A segment of the log: where it is, what it must be, and what is wrong with it.</summary>
internal sealed record SurveyedSegment(
    SegmentHeader Header,
    FoundSegment? File,
    LogEnd End,
    IReadOnlyList<LogHole> Holes,
    bool LosesEnd = false
)
{
    public long Ordinal => Header.Ordinal;

    public string Name => SegmentName.Of(Ordinal, SegmentName.Log);

    /// <summary>Whether the file has another header page than the segment must have, or there is no file.</summary>
    public bool NeedsHeader => File?.Header != Header;

    public bool NeedsRepair => NeedsHeader || LosesEnd || Holes.Count > 0;

    /// <summary>How long its file is, or will be when it is repaired.</summary>
    public long FileBytes => Math.Max(File?.FileBytes ?? 0, FilePosition(End.Position));

    /// <summary>Where a log position is in the file.</summary>
    public long FilePosition(long position) => position - Header.BasePosition + SegmentHeader.PageSize;
}
