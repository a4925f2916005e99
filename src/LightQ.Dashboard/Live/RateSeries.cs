namespace LightQ.Dashboard.Live;

/// <summary>What a counter grows by a second, from reading to reading.</summary>
internal sealed class RateSeries
{
    private (DateTimeOffset Time, double Count)? _before;

    /// <summary>The rates.</summary>
    public Series Rates { get; } = new();

    /// <summary>The newest rate; 0 before the second reading.</summary>
    public double Last => Rates.Last;

    /// <summary>Takes a reading. A counter that is lower than before has begun anew.</summary>
    public void Read(DateTimeOffset time, double count)
    {
        if (_before is { } before && time > before.Time)
            Rates.Add(time, Math.Max(0, count - before.Count) / (time - before.Time).TotalSeconds);
        _before = (time, count);
    }
}
