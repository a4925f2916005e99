namespace LightQ.Bench.Scale;

/// <summary>One dimension: the broker with many beside the one with few.</summary>
internal sealed record ScaleResult : BenchResult
{
    /// <summary>The largest resident memory of the broker with many.</summary>
    public long BrokerPeakRssBytes { get; init; }

    /// <summary>What was few, what was many, and how they compare.</summary>
    public required ScaleFigures Scale { get; init; }

    /// <summary>The rate of each run with many.</summary>
    public required IReadOnlyList<double> Runs { get; init; }

    /// <summary>The rate of each run with few.</summary>
    public required IReadOnlyList<double> YardstickRuns { get; init; }
}
