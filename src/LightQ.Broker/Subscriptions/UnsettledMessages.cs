using System.Diagnostics;

namespace LightQ.Broker.Subscriptions;

/// <summary>
/// What a subscription was sent and its client has not settled: ranges of offsets that do not touch, in order. Not
/// thread-safe.
/// </summary>
/// <remarks>
/// Receipts in the order of the messages need one range. Every message that is settled before an earlier one may need
/// one more, so there is a limit.
/// </remarks>
internal sealed class UnsettledMessages
{
    /// <summary>Most ranges: 256 KiB, and as much to move for a settlement at the wrong end.</summary>
    public const int MostRanges = 16 * 1024;

    private Range[] _ranges = new Range[2];
    private int _count;

    /// <summary>How many ranges there are.</summary>
    public int Count => _count;

    /// <summary>Whether there are more ranges than may be.</summary>
    public bool IsOverfull => _count > MostRanges;

    /// <summary>The lowest offset; <see cref="long.MaxValue"/> when there is none.</summary>
    public long First => _count == 0 ? long.MaxValue : _ranges[0].First;

    /// <summary>How many messages.</summary>
    public long Messages
    {
        get
        {
            long messages = 0;
            foreach (ref readonly Range range in _ranges.AsSpan(0, _count))
                messages += range.End - range.First;
            return messages;
        }
    }

    /// <summary>Forgets everything.</summary>
    public void Clear() => _count = 0;

    /// <summary>Adds messages that are about to be sent, all behind those added before.</summary>
    public void Add(long first, long end)
    {
        Debug.Assert(
            _count == 0 || first >= _ranges[_count - 1].End,
            "Messages are sent in the order of their offsets."
        );
        if (first >= end)
            return;
        if (_count > 0 && _ranges[_count - 1].End == first)
            _ranges[_count - 1].End = end;
        else
            Insert(_count, new Range { First = first, End = end });
    }

    /// <summary>Adds messages that were settled before, at their place.</summary>
    /// <returns>False when one of them is here already; then nothing is added.</returns>
    public bool TryInsert(long first, uint count)
    {
        int index = 0;
        while (index < _count && _ranges[index].End <= first)
            index++;
        if (index < _count && _ranges[index].First < first + count)
            return false;
        Insert(index, new Range { First = first, End = first + count });
        return true;
    }

    /// <summary>Removes a range, if nothing of it is missing here.</summary>
    /// <returns>False when a message of it was never sent, or was settled before; then nothing is removed.</returns>
    public bool TryRemove(long first, uint count)
    {
        int index = IndexOf(first);
        if (index < 0 || _ranges[index].End - first < count)
            return false;
        ref Range range = ref _ranges[index];
        long end = first + count,
            behind = range.End;
        if (range.First < first)
        {
            range.End = first;
            if (end < behind)
                Insert(index + 1, new Range { First = end, End = behind });
        }
        else if (end < behind)
        {
            range.First = end;
        }
        else
        {
            _count--;
            Array.Copy(_ranges, index + 1, _ranges, index, _count - index);
        }
        return true;
    }

    /// <returns>The range that holds an offset; -1 when none does.</returns>
    private int IndexOf(long offset)
    {
        int low = 0,
            high = _count - 1;
        while (low <= high)
        {
            int middle = (low + high) / 2;
            if (offset < _ranges[middle].First)
                high = middle - 1;
            else if (offset >= _ranges[middle].End)
                low = middle + 1;
            else
                return middle;
        }
        return -1;
    }

    private void Insert(int index, in Range range)
    {
        if (_count == _ranges.Length)
            Array.Resize(ref _ranges, 2 * _count);
        Array.Copy(_ranges, index, _ranges, index + 1, _count - index);
        _ranges[index] = range;
        _count++;
    }

    private struct Range
    {
        public long First;
        public long End;
    }
}
