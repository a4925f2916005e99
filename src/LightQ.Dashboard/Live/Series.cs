namespace LightQ.Dashboard.Live;

/// <summary>Readings of one figure over the last 15 minutes.</summary>
public sealed class Series
{
    /// <summary>How far back a series goes.</summary>
    public static readonly TimeSpan Length = TimeSpan.FromMinutes(15);

    private readonly List<Reading> _readings = [];

    /// <summary>The readings, oldest first.</summary>
    public IReadOnlyList<Reading> Readings => _readings;

    /// <summary>The newest value; 0 without a reading.</summary>
    public double Last => _readings.Count == 0 ? 0 : _readings[^1].Value;

    /// <summary>Adds a reading and forgets those that are too old.</summary>
    public void Add(DateTimeOffset time, double value)
    {
        _readings.Add(new Reading(time, value));
        int old = _readings.FindIndex(r => r.Time >= time - Length);
        if (old > 0)
            _readings.RemoveRange(0, old);
    }

    /// <summary>A value at a moment.</summary>
    public readonly record struct Reading(DateTimeOffset Time, double Value);
}
