namespace LightQ.Bench;

/// <summary>A result whose figure is messages a second.</summary>
internal abstract record RateResult : BenchResult
{
    /// <summary>The median of the product's runs.</summary>
    public double MessagesPerSecond { get; init; }

    public double YardstickMessagesPerSecond { get; init; }

    /// <summary>CPU seconds of the broker, per run; null when they are not known, or not asked for.</summary>
    public double? BrokerCpuSeconds { get; init; }

    /// <summary>The broker's largest resident memory; null when it is not known.</summary>
    public long? BrokerPeakRssBytes { get; init; }

    /// <summary>Messages a second of each run.</summary>
    public IReadOnlyList<double> Runs { get; init; } = [];
}
