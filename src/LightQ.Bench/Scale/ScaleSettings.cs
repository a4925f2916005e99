namespace LightQ.Bench.Scale;

/// <summary>How far a scale bench goes.</summary>
internal sealed record ScaleSettings
{
    public const int UsualTopics = 10_000;
    public const int UsualBusyTopics = 100;
    public const long UsualBacklogBytes = 1L << 30;
    public const int UsualSubscriptions = 1000;
    public const int UsualConnections = 10_000;
    public const long UsualMessages = 1_000_000;
    public const int UsualSize = 1024;
    public const long SmallBacklogBytes = 1L << 20;

    public static readonly TimeSpan UsualRest = TimeSpan.FromSeconds(10);

    public required IReadOnlyList<ScaleDimension> Dimensions { get; init; }

    public int Topics { get; init; } = UsualTopics;

    /// <summary>Topics that are published to and consumed; the few of <see cref="ScaleDimension.Topics"/>.</summary>
    public int BusyTopics { get; init; } = UsualBusyTopics;

    public long BacklogBytes { get; init; } = UsualBacklogBytes;

    public int Subscriptions { get; init; } = UsualSubscriptions;

    public int Connections { get; init; } = UsualConnections;

    /// <summary>Deliveries of a run, over all topics and subscriptions.</summary>
    public long Messages { get; init; } = UsualMessages;

    public int Size { get; init; } = UsualSize;

    /// <summary>How long the brokers are watched at rest.</summary>
    public TimeSpan Rest { get; init; } = UsualRest;

    /// <summary>From how many to how many a dimension grows.</summary>
    public (long Few, long Many) RangeOf(ScaleDimension dimension) =>
        dimension switch
        {
            ScaleDimension.Topics => (BusyTopics, Topics),
            ScaleDimension.Backlog => (SmallBacklogBytes, BacklogBytes),
            ScaleDimension.Subscriptions => (1, Subscriptions),
            _ => (0, Connections),
        };
}
