using LightQ.Client;

namespace LightQ.Bench;

/// <summary>What all benches can be told.</summary>
internal sealed record BenchSettings
{
    public const int UsualPairs = 5;

    public IReadOnlyList<int> Sizes { get; init; } = [512];

    public TopicKind Kind { get; init; } = TopicKind.Transient;

    public Durability Ack { get; init; }

    public LoadApi Api { get; init; }

    public int InFlight { get; init; } = 1000;

    public int Pairs { get; init; } = UsualPairs;

    /// <summary>Messages of a run; null to choose them so that a run lasts <see cref="Duration"/>.</summary>
    public long? Messages { get; init; }

    /// <summary>How long a run lasts.</summary>
    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(2.5);

    /// <summary>A broker that runs already; null to start one.</summary>
    public string? Server { get; init; }

    /// <summary>TLS for broker and relay; null for none.</summary>
    public BenchTls? Tls { get; init; }

    /// <summary>Where consumers subscribe; null for where producers publish.</summary>
    public string? ConsumeServer { get; init; }

    /// <summary>
    /// Where a latency bench writes the product's last run: the distribution and the single values; null for nowhere.
    /// </summary>
    public string? HistogramFile { get; init; }

    /// <summary>Where an own broker keeps its data; null for the temporary directory.</summary>
    public string? DataDirectory { get; init; }

    /// <summary>Whether NATS is measured, too.</summary>
    public bool AgainstNats { get; init; }

    /// <summary>A NATS server that runs already; null to start one.</summary>
    public string? NatsUrl { get; init; }

    /// <summary>Messages a second, in a latency bench.</summary>
    public double Rate { get; init; } = 1000;

    /// <summary>Whether latency counts from the actual sending instead of when it was due.</summary>
    public bool StampActual { get; init; }

    /// <summary>
    /// Whether the consumer of a throughput bench begins when the topic, a durable one, holds all messages already.
    /// </summary>
    public bool CatchUp { get; init; }

    /// <summary>Whether a throughput bench measures latency as well.</summary>
    public bool MeasureLatency { get; init; }

    /// <summary>How kind and ack level are called in reports.</summary>
    public string AckName => (
            Ack != Durability.Default ? Ack
            : Kind == TopicKind.Durable ? Durability.Fsync
            : Durability.Memory
        ).ToString().ToLowerInvariant();

    public string KindName => Kind.ToString().ToLowerInvariant();

    public string ApiName => Api.ToString().ToLowerInvariant();
}
