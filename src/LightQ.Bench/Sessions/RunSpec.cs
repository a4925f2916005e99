using LightQ.Client;

namespace LightQ.Bench.Sessions;

/// <summary>One run, as the parent tells it to a role.</summary>
internal sealed record RunSpec
{
    /// <summary>What the load goes through.</summary>
    public LoadTarget Target { get; init; }

    /// <summary>A connection string of LightQ, or host:port of NATS or of the relay's end for producers.</summary>
    public required string Endpoint { get; init; }

    /// <summary>
    /// The relay's end for consumers, or the broker to subscribe at when it is another address; otherwise absent.
    /// </summary>
    public string? ConsumeEndpoint { get; init; }

    /// <summary>What the relay's certificate must come from; null when the relay does no TLS.</summary>
    public string? RelayCaFile { get; init; }

    /// <summary>The topic; the subject on NATS.</summary>
    public string Topic { get; init; } = "";

    /// <summary>Bytes of every body.</summary>
    public int Size { get; init; }

    /// <summary>How many messages.</summary>
    public long Messages { get; init; }

    /// <summary>
    /// Where the consumer begins, behind what earlier runs left; null: with what is published once it has subscribed.
    /// </summary>
    public long? StartOffset { get; init; }

    /// <summary>How they are published and consumed.</summary>
    public LoadApi Api { get; init; }

    /// <summary>The ack level asked for.</summary>
    public Durability Ack { get; init; }

    /// <summary>Publishes without an ack at most, with <see cref="LoadApi.Publish"/>.</summary>
    public int InFlight { get; init; }

    /// <summary>Whether the consumer's process of a throughput run measures latency as well.</summary>
    public bool MeasureLatency { get; init; }

    /// <summary>Messages a second, in a latency run.</summary>
    public double Rate { get; init; }

    /// <summary>Messages at the start of a latency run that are sent but not measured.</summary>
    public long WarmUpMessages { get; init; }

    /// <summary>Where a latency run writes its distribution and values; null for nowhere.</summary>
    public string? HistogramFile { get; init; }

    /// <summary>Whether stamps are the times of sending instead of the times when sending was due.</summary>
    public bool StampActual { get; init; }
}
