using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Scrubbing;

/// <summary>Reads what is durable of a segment from the disk, a piece at a time, and says what is damaged.</summary>
/// <remarks>
/// Between two pieces it holds nothing, neither a descriptor nor the segment; while it reads one, retention and
/// deletion take the name away all the same.
/// </remarks>
internal sealed class SegmentCheck(LogState log, Segment segment, LogGap? suspected = null)
{
    private LogEnd _at = new(
        segment.BasePosition,
        segment.BaseOffset,
        segment.Header.PreviousTime,
        segment.Header.Ordinal,
        segment.Crc
    );
    private LogEnd? _end;

    public LogState Log => log;

    public Segment Segment => segment;

    private string Name => Path.GetFileName(segment.Path);

    /// <summary>Reads on.</summary>
    /// <param name="buffer">What to read into.</param>
    /// <param name="tailBytes">How far behind the end of the log its pages are left in the cache.</param>
    /// <param name="budget">How many bytes to read; may fall below zero by what cannot be divided.</param>
    /// <returns>True when there is nothing more to read.</returns>
    public bool Advance(byte[] buffer, long tailBytes, ref long budget)
    {
        _end ??= log.DurableEndOf(segment);
        if (log.Closed || _end is not { } end || !segment.TryAcquire())
            return true;
        try
        {
            using IStorageFile file = log.Files.Open(segment.Path, OpenMode.Read);
            return Read(file, end, buffer, tailBytes, ref budget);
        }
        catch (StorageIOException error) when (error.IsOutOfDescriptors)
        {
            budget = Math.Min(budget, 0); // Other work needs a descriptor more.
            return false;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // Retention takes a segment out of the list before it deletes the file.
            if (!log.Closed && log.Segments.Contains(segment))
            {
                Report([
                    new JournalDamage(
                        Name,
                        _at.Offset,
                        end.Offset - 1,
                        end.Position - _at.Position,
                        DiskError.Describe(error)
                    ),
                ]);
            }

            return true;
        }
        finally
        {
            segment.Release();
        }
    }

    private bool Read(IStorageFile file, LogEnd end, byte[] buffer, long tailBytes, ref long budget)
    {
        // Before the tail, read the disk and not the cache: no reader needs these bytes there.
        bool isCold = end.Position <= log.TailStart(tailBytes);
        long from = _at.Position,
            most = Math.Min(budget, end.Position - from);
        if (isCold)
            file.DropCached(segment.FilePosition(from), most);
        var alone = new Segment(log.Files, segment.Path, segment.Header, segment.FileBytes, file);
        var window = new FileWindow(file, buffer);
        while (
            !log.Closed
            && _at.Position - from < most
            && BatchScan.TryNext(window, alone, end.Position, payloads: true, visitor: null, ref _at)
        )
        {
            // Valid, and what was written here.
        }
        budget -= _at.Position - from;
        bool isDone = _at.Position - from < most || _at.Position == end.Position;
        if (isDone && !log.Closed)
        {
            Report(
                _at.Position == end.Position && _at.Offset == end.Offset && _at.ChainCrc == end.ChainCrc
                    ? []
                    : FindDamage(alone, end, ref budget)
            );
        }

        if (isCold)
            file.DropCached(segment.FilePosition(from), isDone ? end.Position - from : most);
        return isDone;
    }

    private List<JournalDamage> FindDamage(Segment alone, LogEnd end, ref long budget)
    {
        var walk = new LogWalk(alone, new BatchTally());
        walk.RunTo(
            new LogEnd(
                segment.BasePosition,
                segment.BaseOffset,
                segment.Header.PreviousTime,
                segment.Header.Ordinal,
                segment.Crc
            ),
            end
        );
        budget -= end.Position - segment.BasePosition;
        return walk.Holes.ConvertAll(hole => new JournalDamage(
            Name,
            hole.Start.Offset,
            hole.NextOffset - 1,
            hole.Bytes,
            JournalDamage.OtherBytes
        ));
    }

    private void Report(List<JournalDamage> found)
    {
        if (suspected is { } gap && !found.Exists(damage => damage.Touches(gap.FirstOffset, gap.LastOffset)))
        {
            found =
            [
                .. found,
                new JournalDamage(
                    Name,
                    gap.FirstOffset,
                    gap.LastOffset,
                    0,
                    "the disk gave wrong bytes once and the right ones later"
                ),
            ];
        }

        found.RemoveAll(damage => damage.LastOffset < log.StartOffset);
        log.NoteDamage(Name, found);
    }
}
