namespace LightQ.Storage.Segments;

/// <summary>
/// One entry every 64 KiB of a segment, in order. Sparse is right: a lookup walks on from the entry it finds, or from
/// the segment's base.
/// </summary>
/// <remarks>One thread adds at a time; any thread may look up.</remarks>
internal sealed class SegmentIndex
{
    public const int Spacing = 64 * 1024;

    private readonly SegmentIndexEntry[] _entries;
    private int _count;
    private long _nextPosition;

    public SegmentIndex(long basePosition, long fileBytes)
    {
        _entries = new SegmentIndexEntry[(fileBytes / Spacing) + 1];
        _nextPosition = basePosition;
    }

    public ReadOnlySpan<SegmentIndexEntry> Entries => _entries.AsSpan(0, Volatile.Read(ref _count));

    /// <summary>Notes a batch, if the last one noted is far enough behind.</summary>
    public void Note(long offset, long appendTime, long position)
    {
        if (position < _nextPosition || _count == _entries.Length)
            return;
        _entries[_count] = new SegmentIndexEntry(offset, appendTime, position);
        Volatile.Write(ref _count, _count + 1);
        _nextPosition = position + Spacing;
    }

    /// <summary>
    /// Forgets what was noted from a log position on, because recovery cuts it. No reader may look up meanwhile.
    /// </summary>
    public void CutAt(long position)
    {
        int kept = _count;
        while (kept > 0 && _entries[kept - 1].Position >= position)
            kept--;
        if (kept == _count)
            return;
        _count = kept;
        _nextPosition = position;
    }

    /// <summary>The last entry at or before an offset.</summary>
    public bool TryFindOffset(long offset, out SegmentIndexEntry found)
    {
        ReadOnlySpan<SegmentIndexEntry> entries = Entries;
        int low = 0,
            high = entries.Length;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (entries[middle].Offset <= offset)
                low = middle + 1;
            else
                high = middle;
        }
        found = low > 0 ? entries[low - 1] : default;
        return low > 0;
    }

    /// <summary>The last entry appended before a time: what was appended at that time or later is behind it.</summary>
    public bool TryFindTime(long time, out SegmentIndexEntry found)
    {
        ReadOnlySpan<SegmentIndexEntry> entries = Entries;
        int low = 0,
            high = entries.Length;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (entries[middle].AppendTime < time)
                low = middle + 1;
            else
                high = middle;
        }
        found = low > 0 ? entries[low - 1] : default;
        return low > 0;
    }

    /// <summary>The first entry behind a log position: where reading can go on behind damage.</summary>
    public bool TryFindBehind(long position, out SegmentIndexEntry found)
    {
        foreach (SegmentIndexEntry entry in Entries)
        {
            if (entry.Position > position)
            {
                found = entry;
                return true;
            }
        }
        found = default;
        return false;
    }
}
