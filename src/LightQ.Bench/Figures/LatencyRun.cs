namespace LightQ.Bench.Figures;

/// <summary>
/// What the reference document's report of a latency run needs; times in microseconds, those of the wall from when
/// measuring began.
/// </summary>
internal sealed record LatencyRun
{
    /// <summary>The percentiles that the report prints.</summary>
    public static readonly IReadOnlyList<double> Percentiles =
    [
        10,
        50,
        75,
        90,
        99,
        99.99,
        99.999,
        99.9999,
        99.99999,
        100,
    ];

    public double PublishRoundTripUs { get; init; }

    public double SubscribeRoundTripUs { get; init; }

    /// <summary>The values of <see cref="Percentiles"/>.</summary>
    public required IReadOnlyList<double> PercentilesUs { get; init; }

    public double MinUs { get; init; }

    public double FirstSentUs { get; init; }

    public double LastSentUs { get; init; }

    public double LastReceivedUs { get; init; }

    /// <summary>Messages that were measured.</summary>
    public long Messages { get; init; }
}
