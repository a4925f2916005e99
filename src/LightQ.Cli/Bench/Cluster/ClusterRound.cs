namespace LightQ.Cli.Bench.Cluster;

/// <summary>The figures of one run, rates in bytes or messages a second.</summary>
internal sealed record ClusterRound
{
    public required double LightQ { get; init; }

    /// <summary>Bytes of an append that the broker made, on average.</summary>
    public required double RunBytes { get; init; }

    /// <summary>The engine with one append of that size under way in each stream.</summary>
    public required double OneAtATime { get; init; }

    public required double Pipelined { get; init; }

    public required TimeSpan LightQMedian { get; init; }

    public required TimeSpan LightQLate { get; init; }

    public required TimeSpan EngineMedian { get; init; }

    public required TimeSpan EngineLate { get; init; }

    public required IReadOnlyList<MessageRound> Messages { get; init; }

    /// <summary>Single messages of one size, in messages a second.</summary>
    internal sealed record MessageRound(int Bytes, double JetStream, double LightQ);
}
