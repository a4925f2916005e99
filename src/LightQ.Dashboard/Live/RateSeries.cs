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
    /// <param name="time">When the broker has read it, by its clock.</param>
    /// <param name="count">The counter.</param>
    /// <param name="shown">The same by the clock of this browser, which may be another.</param>
    public void Read(DateTimeOffset time, double count, DateTimeOffset shown)
    {
        if (_before is { } before && time > before.Time)
            Rates.Add(shown, Math.Max(0, count - before.Count) / (time - before.Time).TotalSeconds);
        if (_before is null || time > _before.Value.Time)
            _before = (time, count);
    }
}
