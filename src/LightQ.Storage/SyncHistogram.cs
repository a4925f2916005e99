using System.Numerics;

namespace LightQ.Storage;

/// <summary>
/// Counts syncs by how long they took, in classes that are a sixteenth of a power of two wide. Thread-safe, without
/// locks.
/// </summary>
internal sealed class SyncHistogram
{
    private const int Bits = 4,
        Parts = 1 << Bits;

    /// <summary>The longest class ends behind a day.</summary>
    private const long MostMicroseconds = 1L << 37;

    private readonly long[] _counts = new long[IndexOf(MostMicroseconds - 1) + 1];

    /// <summary>Counts one.</summary>
    public void Add(TimeSpan duration)
    {
        long microseconds = Math.Clamp(duration.Ticks / TimeSpan.TicksPerMicrosecond, 0, MostMicroseconds - 1);
        Interlocked.Increment(ref _counts[IndexOf(microseconds)]);
    }

    /// <summary>The counts so far.</summary>
    public SyncDurations Read()
    {
        var counts = new long[_counts.Length];
        for (int i = 0; i < counts.Length; i++)
            counts[i] = Volatile.Read(ref _counts[i]);
        return new SyncDurations(counts);
    }

    /// <summary>Where a class ends: the next one begins there.</summary>
    public static TimeSpan EndOf(int index)
    {
        int power = index / Parts;
        long microseconds = power == 0 ? index + 1 : (long)(Parts + (index % Parts) + 1) << (power - 1);
        return new TimeSpan(microseconds * TimeSpan.TicksPerMicrosecond);
    }

    private static int IndexOf(long microseconds)
    {
        if (microseconds < Parts)
            return (int)microseconds;
        int power = BitOperations.Log2((ulong)microseconds) - Bits;
        return ((power + 1) * Parts) + (int)((microseconds >> power) & (Parts - 1));
    }
}
