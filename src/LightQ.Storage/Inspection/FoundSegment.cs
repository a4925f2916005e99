using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>A segment file as it lies in the directory.</summary>
/// <param name="Ordinal">As its name says.</param>
/// <param name="Path">The file.</param>
/// <param name="FileBytes">Its length.</param>
/// <param name="Header">Its header page; null when that is not valid.</param>
/// <param name="Extent">What its first page says of how much there must be.</param>
/// <param name="IsBlank">Whether the header page is all zero: made ahead and not used, as far as it says.</param>
/// <param name="Refusal">
/// Why the file must not be touched: its format is of a later version. Null when it may be.
/// </param>
internal sealed record FoundSegment(
    long Ordinal,
    string Path,
    long FileBytes,
    SegmentHeader? Header,
    SegmentExtent Extent,
    bool IsBlank,
    string? Refusal
)
{
    public string Name => System.IO.Path.GetFileName(Path);

    /// <summary>The segment files of a directory, by ordinal. Changes nothing.</summary>
    public static List<FoundSegment> In(string directory, IFileSystem files)
    {
        var found = new List<FoundSegment>();
        foreach (string name in files.List(directory))
        {
            if (SegmentName.TryParse(name, SegmentName.Log, out long ordinal))
                found.Add(Read(System.IO.Path.Combine(directory, name), ordinal, files));
        }
        found.Sort((a, b) => a.Ordinal.CompareTo(b.Ordinal));
        return found;
    }

    /// <summary>Opens the file for reading only.</summary>
    public Segment Open(IFileSystem files, SegmentHeader header) =>
        new(files, Path, header, FileBytes, files.Open(Path, OpenMode.Read)) { Extent = Extent };

    private static FoundSegment Read(string path, long ordinal, IFileSystem files)
    {
        Span<byte> page = stackalloc byte[SegmentHeader.PageSize];
        using IStorageFile file = files.Open(path, OpenMode.Read);
        page = page[..file.Read(page, 0)];
        try
        {
            SegmentHeader? header =
                SegmentHeader.TryRead(page, out SegmentHeader read) && read.Ordinal == ordinal ? read : null;
            return new FoundSegment(
                ordinal,
                path,
                file.Length,
                header,
                header is { } known ? SegmentExtent.Read(page, known.Crc()) : default,
                !page.ContainsAnyExcept((byte)0),
                null
            );
        }
        catch (JournalFormatException e)
        {
            return new FoundSegment(ordinal, path, file.Length, null, default, false, e.Message);
        }
    }
}
