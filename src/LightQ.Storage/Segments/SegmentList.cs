namespace LightQ.Storage.Segments;

/// <summary>
/// A log's segments, oldest first. Reading is lock-free over an immutable array; changing it takes a lock.
/// </summary>
internal sealed class SegmentList
{
    private readonly Lock _lock = new();
    private Segment[] _segments;

    public SegmentList(IEnumerable<Segment> segments) => _segments = [.. segments];

    /// <summary>All segments now, oldest first.</summary>
    public ReadOnlySpan<Segment> All => Volatile.Read(ref _segments);

    public Segment? First => Volatile.Read(ref _segments) is { Length: > 0 } all ? all[0] : null;

    public Segment? Last => Volatile.Read(ref _segments) is { Length: > 0 } all ? all[^1] : null;

    public void Add(Segment segment)
    {
        lock (_lock)
            Volatile.Write(ref _segments, [.. _segments, segment]);
    }

    /// <summary>Takes out the segments that end at or before an offset and are older than one that must stay.</summary>
    public Segment[] RemoveBefore(long offset, long ordinal)
    {
        lock (_lock)
        {
            int count = 0;
            while (
                count < _segments.Length - 1
                && _segments[count + 1].BaseOffset <= offset
                && _segments[count].Header.Ordinal < ordinal
            )
            {
                count++;
            }

            if (count == 0)
                return [];
            Segment[] removed = _segments[..count];
            Volatile.Write(ref _segments, _segments[count..]);
            return removed;
        }
    }

    public Segment[] RemoveAll()
    {
        lock (_lock)
        {
            Segment[] removed = _segments;
            Volatile.Write(ref _segments, []);
            return removed;
        }
    }

    /// <summary>The segment that holds a log position, or the last that begins at or before it.</summary>
    public Segment? FindPosition(long position) => Find(position, static segment => segment.BasePosition);

    /// <summary>The segment that holds an offset, or the last that begins at or before it.</summary>
    public Segment? FindOffset(long offset) => Find(offset, static segment => segment.BaseOffset);

    /// <summary>The segment behind another, or null.</summary>
    public Segment? Next(Segment segment) => NextBehind(segment.Header.Ordinal);

    /// <summary>The first segment with a higher ordinal, or null.</summary>
    public Segment? NextBehind(long ordinal)
    {
        foreach (Segment candidate in All)
        {
            if (candidate.Header.Ordinal > ordinal)
                return candidate;
        }
        return null;
    }

    /// <summary>Whether a segment has not been taken out.</summary>
    public bool Contains(Segment segment) => All.Contains(segment);

    private Segment? Find(long value, Func<Segment, long> key)
    {
        // From the end: nearly every lookup is in the last two.
        ReadOnlySpan<Segment> all = All;
        for (int i = all.Length - 1; i >= 0; i--)
        {
            if (key(all[i]) <= value)
                return all[i];
        }
        return null;
    }
}
