using System.Numerics;

namespace LightQ.Bench.Figures;

/// <summary>
/// Counts values in buckets that are never wider than a thousandth of the value: three significant digits in fixed
/// memory.
/// </summary>
/// <remarks>
/// <code>
/// value      0 .. 2047   2048 .. 4095   4096 .. 8191   ...
/// bucket width   1            2              4
/// </code>
/// Above the first 2048 values, every doubling has 1024 buckets, as in HdrHistogram with three digits. Recording costs
/// a few nanoseconds and allocates nothing. Not thread-safe.
/// <para>
/// The package HdrHistogram 2.5.0 is not used: its largest value is the upper end of a bucket, a percentile's rank is
/// rounded to the nearest, so it may be exceeded by more values than it says, the values themselves are not kept, and
/// its text has milliseconds with three decimals, where a hand-over takes 0.0001.
/// </para>
/// </remarks>
internal sealed class LatencyHistogram
{
    /// <summary>The largest value it tells apart: about 73 minutes in nanoseconds. Larger ones count as this.</summary>
    public const long MaxValue = (1L << 42) - 1;

    private const int HalfBits = 10;

    private readonly long[] _counts = new long[BucketOf(MaxValue) + 1];
    private readonly long[] _values;

    /// <param name="keep">How many of the first values it also keeps one by one.</param>
    public LatencyHistogram(int keep = 0) => _values = keep == 0 ? [] : new long[keep];

    /// <summary>How many values were recorded.</summary>
    public long Count { get; private set; }

    /// <summary>The smallest value, exactly; 0 without values.</summary>
    public long Min { get; private set; }

    /// <summary>The largest value, exactly.</summary>
    public long Max { get; private set; }

    /// <summary>The values it kept, in the order of recording.</summary>
    public ReadOnlySpan<long> Values => _values.AsSpan(0, (int)Math.Min(Count, _values.Length));

    /// <summary>
    /// Every bucket that is not empty: its upper end, which is never above <see cref="Max"/>, and how many values are
    /// in it.
    /// </summary>
    public IEnumerable<(long Value, long Count)> Buckets()
    {
        for (int i = 0; i < _counts.Length; i++)
        {
            if (_counts[i] != 0)
                yield return (Math.Min(UpperEndOf(i), Max), _counts[i]);
        }
    }

    /// <summary>Records a value; a negative one counts as 0.</summary>
    public void Record(long value)
    {
        value = Math.Clamp(value, 0, MaxValue);
        _counts[BucketOf(value)]++;
        if (Count < _values.Length)
            _values[Count] = value;
        Min = Count == 0 ? value : Math.Min(Min, value);
        Max = Math.Max(Max, value);
        Count++;
    }

    /// <summary>Adds everything another histogram holds.</summary>
    public void Add(LatencyHistogram other)
    {
        if (other.Count == 0)
            return;
        for (int i = 0; i < _counts.Length; i++)
            _counts[i] += other._counts[i];
        Min = Count == 0 ? other.Min : Math.Min(Min, other.Min);
        Max = Math.Max(Max, other.Max);
        Count += other.Count;
    }

    /// <summary>Forgets everything, and leaves its memory touched.</summary>
    public void Clear()
    {
        Array.Clear(_counts);
        (Count, Min, Max) = (0, 0, 0);
    }

    /// <summary>How many values are in the bucket of a value, or above it.</summary>
    public long CountFrom(long value)
    {
        long count = 0;
        for (int i = BucketOf(Math.Clamp(value, 0, MaxValue)); i < _counts.Length; i++)
            count += _counts[i];
        return count;
    }

    /// <summary>
    /// The value that <paramref name="percent"/> percent of all values do not exceed; 0 without values.
    /// </summary>
    /// <param name="percent">0 to 100.</param>
    /// <returns>The upper end of its bucket, but never more than <see cref="Max"/>.</returns>
    public long Percentile(double percent)
    {
        long rank = Math.Max(1, (long)Math.Ceiling(percent / 100 * Count));
        long seen = 0;
        for (int i = 0; i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= rank)
                return Math.Min(UpperEndOf(i), Max);
        }
        return Max;
    }

    private static int BucketOf(long value)
    {
        int shift = Math.Max(0, BitOperations.Log2((ulong)value) - HalfBits);
        return (shift << HalfBits) + (int)(value >> shift);
    }

    private static long UpperEndOf(int bucket)
    {
        int shift = Math.Max(0, (bucket >> HalfBits) - 1);
        long lower = (long)(bucket - (shift << HalfBits)) << shift;
        return lower + (1L << shift) - 1;
    }
}
