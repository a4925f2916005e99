namespace LightQ.Bench.Fanout;

/// <summary>What the fan-out bench can be told besides <see cref="BenchSettings"/>.</summary>
internal sealed record FanoutSettings
{
    public const int UsualPublishers = 20,
        UsualSubscribers = 1000,
        UsualSize = 1024;

    public static readonly TimeSpan UsualDuration = TimeSpan.FromSeconds(30);

    public int Publishers { get; init; } = UsualPublishers;

    public int Subscribers { get; init; } = UsualSubscribers;

    /// <summary>Messages a second of each publisher.</summary>
    public double Rate { get; init; } = 1;

    /// <summary>Bytes of every body.</summary>
    public int Size { get; init; } = UsualSize;

    public TimeSpan Duration { get; init; } = UsualDuration;

    /// <summary>Background connections; null for as many as the descriptor limits allow.</summary>
    public int? Idle { get; init; }

    /// <summary>Whether all publishers send at the same moments, instead of each at its own.</summary>
    public bool Synchronised { get; init; }

    /// <summary>Whether the rate is raised until latency leaves.</summary>
    public bool Sweep { get; init; }

    /// <summary>Where the log of entries goes.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>Messages a second of all publishers.</summary>
    public double TotalRate => Publishers * Rate;

    /// <summary>Measured messages of each publisher.</summary>
    public int MessagesEach => (int)Math.Max(1, Math.Ceiling(Rate * Duration.TotalSeconds));
}
