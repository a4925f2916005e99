namespace LightQ.Cli.Bench.Cluster;

/// <summary>What <c>lightq bench cluster</c> measures.</summary>
internal sealed record ClusterBenchSettings
{
    public const int UsualPartitions = 4,
        UsualBatchBytes = 64 * 1024,
        UsualInFlight = 256,
        UsualPairs = 1;

    public static readonly TimeSpan UsualTime = TimeSpan.FromSeconds(4);

    /// <summary>Servers that run already; null to start three.</summary>
    public string? Engine { get; init; }

    /// <summary>A broker that runs already; null to start one.</summary>
    public string? Server { get; init; }

    /// <summary>Where servers and broker that are started keep their data; null for the temporary directory.</summary>
    public string? Folder { get; init; }

    /// <summary>Whether servers that are started sync before they acknowledge.</summary>
    public bool SyncAlways { get; init; }

    public int Partitions { get; init; } = UsualPartitions;

    public int BatchBytes { get; init; } = UsualBatchBytes;

    /// <summary>Appends under way in the engine's pipeline, for each stream.</summary>
    public int Window { get; } = 64;

    /// <summary>Single messages under way, for each partition.</summary>
    public int InFlight { get; init; } = UsualInFlight;

    /// <summary>How long each part of a run lasts.</summary>
    public TimeSpan Time { get; init; } = UsualTime;

    /// <summary>How often everything is measured; the report has medians.</summary>
    public int Pairs { get; init; } = UsualPairs;

    public IReadOnlyList<int> MessageSizes { get; } = [100, 1024];
}
