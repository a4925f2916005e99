using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>Finds the segments of a directory: reads every header page, opens nothing for longer.</summary>
internal static class SegmentFiles
{
    /// <summary>The segments, oldest first, and the ordinals whose header page is not (or not yet) valid.</summary>
    /// <exception cref="JournalFormatException">A file belongs to another topic or to another life of it.</exception>
    public static (List<Segment> Segments, List<long> Blank) Find(JournalOptions options, IFileSystem files)
    {
        var ordinals = new List<long>();
        foreach (string name in files.List(options.Directory))
        {
            if (name.EndsWith(SegmentName.Temporary, StringComparison.Ordinal))
                files.Delete(Path.Combine(options.Directory, name));
            else if (SegmentName.TryParse(name, SegmentName.Log, out long ordinal))
                ordinals.Add(ordinal);
        }
        ordinals.Sort();

        var segments = new List<Segment>();
        var blank = new List<long>();
        foreach (long ordinal in ordinals)
        {
            if (TryRead(options, files, ordinal) is { } segment)
                segments.Add(segment);
            else
                blank.Add(ordinal);
        }
        for (int i = 0; i + 1 < segments.Count; i++)
            segments[i].EndPosition = segments[i + 1].BasePosition;
        return (segments, blank);
    }

    private static Segment? TryRead(JournalOptions options, IFileSystem files, long ordinal)
    {
        string path = Path.Combine(options.Directory, SegmentName.Of(ordinal, SegmentName.Log));
        Span<byte> page = stackalloc byte[SegmentHeader.PageSize];
        using IStorageFile file = files.Open(path, OpenMode.Read);
        int read = file.Read(page, 0);
        if (!SegmentHeader.TryRead(page[..read], out SegmentHeader header) || header.Ordinal != ordinal)
            return null; // Prepared and not used yet, or recycled with its old page.
        if (header.TopicId != options.TopicId || header.Incarnation != options.Incarnation)
        {
            throw new JournalFormatException(
                $"'{path}' belongs to topic {header.TopicId:N}, incarnation {header.Incarnation}, not to topic "
                    + $"{options.TopicId:N}, incarnation {options.Incarnation}."
            );
        }
        return new Segment(files, path, header, file.Length)
        {
            Extent = SegmentExtent.Read(page[..read], header.Crc()),
        };
    }
}
