namespace LightQ.Broker.Topics;

/// <summary>How groups with explicit settlement are delivered to.</summary>
public sealed record DeliverySettings
{
    /// <summary>How long delivered messages are one member's. Default 30 s; 1 s to 12 h.</summary>
    public TimeSpan LockDuration { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// How often a message is delivered before it is dead-lettered. Default 10; 0: without end; at most 65,535.
    /// </summary>
    public int MaxDeliveries { get; init; } = 10;

    /// <summary>
    /// How long a message stays away when it was abandoned, or its lock ran out, for the first time; each time twice as
    /// long. Default 1 s; zero to 1 h.
    /// </summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The longest wait for redelivery. Default 1 min; at most 24 h, and not below <see cref="RetryDelay"/>.
    /// </summary>
    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// The topic that gets dead-lettered messages; made when it is needed. Empty, the default: the topic's name and
    /// <c>.dead</c>.
    /// </summary>
    public string DeadLetterTopic { get; init; } = "";

    internal long LockMicroseconds => LockDuration.Ticks / TimeSpan.TicksPerMicrosecond;

    /// <summary>How long a message waits for redelivery that was delivered so often.</summary>
    internal long RetryMicroseconds(int deliveries)
    {
        long first = RetryDelay.Ticks / TimeSpan.TicksPerMicrosecond,
            most = MaxRetryDelay.Ticks / TimeSpan.TicksPerMicrosecond;
        int doublings = Math.Clamp(deliveries - 1, 0, 32);
        return first >= most >> doublings ? most : first << doublings;
    }
}
