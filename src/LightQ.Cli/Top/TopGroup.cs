namespace LightQ.Cli.Top;

/// <summary>A group in <c>lightq top</c>.</summary>
internal sealed record TopGroup(string Topic, string Group, long Lag, int Clients, bool Paused)
{
    /// <summary>The age of the oldest message that is not settled; absent when it is not known.</summary>
    public double? OldestUnsettledSeconds { get; init; }

    public long InFlight { get; init; }

    /// <summary>Deliveries a second; absent until it is measured.</summary>
    public double? DeliveryRate { get; init; }

    public long Redelivered { get; init; }

    public long DeadLettered { get; init; }
}
