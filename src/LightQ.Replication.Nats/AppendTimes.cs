using System.Diagnostics;

namespace LightQ.Replication.Nats;

/// <summary>How long appends took. One thread at a time.</summary>
internal sealed class AppendTimes
{
    private readonly List<long> _ticks = [];

    public int Count => _ticks.Count;

    public void Add(long began) => _ticks.Add(Stopwatch.GetTimestamp() - began);

    /// <summary>The rate of all of them together, each with so many bytes.</summary>
    public static EngineRate Rate(IEnumerable<AppendTimes> parts, int bytes, TimeSpan elapsed)
    {
        long[] all = [.. parts.SelectMany(part => part._ticks).Order()];
        return new(all.Length, (long)all.Length * bytes, elapsed, At(all, 0.5), At(all, 0.99));
    }

    private static TimeSpan At(long[] sorted, double part) =>
        sorted.Length == 0
            ? TimeSpan.Zero
            : Stopwatch.GetElapsedTime(0, sorted[Math.Min((int)(sorted.Length * part), sorted.Length - 1)]);
}
