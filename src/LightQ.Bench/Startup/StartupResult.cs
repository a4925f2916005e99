namespace LightQ.Bench.Startup;

/// <summary>
/// How long a broker with a backlog took to be ready, beside one without; the ratio is that of the medians.
/// </summary>
internal sealed record StartupResult : BenchResult
{
    public int Topics { get; init; }

    /// <summary>Bytes in them, together.</summary>
    public long BacklogBytes { get; init; }

    /// <summary>
    /// From the start of the process until it is ready, in milliseconds; the median of <see cref="ReadyRunsMs"/>.
    /// </summary>
    public double ReadyMs { get; init; }

    public double YardstickReadyMs { get; init; }

    public required IReadOnlyList<double> ReadyRunsMs { get; init; }

    public required IReadOnlyList<double> YardstickReadyRunsMs { get; init; }

    /// <summary>Resident memory when it was ready.</summary>
    public long BrokerReadyRssBytes { get; init; }

    /// <summary>The largest on the way there.</summary>
    public long BrokerPeakRssBytes { get; init; }
}
