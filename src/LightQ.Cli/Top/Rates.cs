namespace LightQ.Cli.Top;

/// <summary>Counts of the reading before, to tell how fast they rise.</summary>
internal sealed class Rates<TKey>
    where TKey : notnull
{
    // Of less, a count that comes in batches makes rates that mean nothing.
    private const double LeastSeconds = 0.05;

    private Dictionary<TKey, (DateTimeOffset Time, double[] Counts)> _before = [];
    private Dictionary<TKey, (DateTimeOffset Time, double[] Counts)> _now = [];

    /// <summary>The rates of what is counted under a key; null where they are not known.</summary>
    public double?[] Of(TKey key, DateTimeOffset time, params double[] counts)
    {
        _now[key] = (time, counts);
        if (!_before.TryGetValue(key, out (DateTimeOffset Time, double[] Counts) before))
            return new double?[counts.Length];
        double seconds = (time - before.Time).TotalSeconds;
        // What was created again meanwhile counts from zero, and so does everything after a restart.
        return seconds < LeastSeconds || counts.Zip(before.Counts).Any(c => c.First < c.Second)
            ? new double?[counts.Length]
            : [.. counts.Zip(before.Counts, double? (now, then) => (now - then) / seconds)];
    }

    /// <summary>The reading is complete: the next one is compared with it.</summary>
    public void EndReading()
    {
        (_before, _now) = (_now, _before);
        _now.Clear();
    }
}
