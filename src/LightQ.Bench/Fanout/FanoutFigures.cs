namespace LightQ.Bench.Fanout;

/// <summary>What one run of a fan-out gave, or what a document says of one. What is not known is absent.</summary>
internal sealed record FanoutFigures
{
    public int Publishers { get; init; }

    public int Subscribers { get; init; }

    /// <summary>Messages a second of all publishers.</summary>
    public double Rate { get; init; }

    public int? IdleConnections { get; init; }

    /// <summary>Messages that were published and acknowledged, those that warm up included.</summary>
    public long? Published { get; init; }

    /// <summary>
    /// Deliveries that the broker has receipts for; every one of <see cref="Published"/> times
    /// <see cref="Subscribers"/>.
    /// </summary>
    public long? Settled { get; init; }

    /// <summary>Entries of the log, which are the measured deliveries.</summary>
    public long? Entries { get; init; }

    /// <summary>From when a message was due to be sent until a subscriber had it, in microseconds.</summary>
    public double MeanUs { get; init; }

    /// <summary>What is missing in the log, of what should be there, in percent.</summary>
    public double LossPercent { get; init; }

    public double DeliveriesPerSecond { get; init; }

    /// <summary>CPU time of the broker, in percent of one core.</summary>
    public double? CpuPercent { get; init; }

    /// <summary>The system's load over the last minute, when the run ended.</summary>
    public double? Load { get; init; }

    /// <summary>The broker's resident memory when the run ended.</summary>
    public long? RssBytes { get; init; }

    /// <summary>Whether the broker has a receipt for every delivery.</summary>
    [System.Text.Json.Serialization.JsonIgnore]
    public bool IsSettled => Settled == Published * Subscribers;

    /// <summary>
    /// Scenario 1 of EMQ's "Latency Test" document: the only row it prints. CPU is "at most 86 %", of its test machine,
    /// load "at most 7" and memory "less than 1 GB"; broker and load generators were on other machines of one cloud
    /// network.
    /// </summary>
    public static FanoutFigures Document { get; } =
        new()
        {
            Publishers = 20,
            Subscribers = 1000,
            Rate = 20,
            IdleConnections = 20_000,
            MeanUs = 61_000,
            LossPercent = 0,
            DeliveriesPerSecond = 19_350,
            CpuPercent = 86,
            Load = 7,
            RssBytes = 1_000_000_000,
        };
}
