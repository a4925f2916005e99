namespace LightQ.Client.Connections;

/// <summary>How long to wait before another attempt: always a random time, so that clients spread out.</summary>
internal static class RetryDelay
{
    /// <summary>A random part of an upper bound that doubles with every attempt.</summary>
    public static TimeSpan Reconnect(LightQClientOptions options, int attempt, double random)
    {
        double bound = Math.Min(
            options.MaxReconnectDelay.TotalMilliseconds,
            options.ReconnectDelay.TotalMilliseconds * Math.Pow(2, Math.Min(attempt, 30))
        );
        return TimeSpan.FromMilliseconds(bound * random);
    }

    /// <summary>50 to 500 ms: about as long as a partition is without a leader.</summary>
    public static TimeSpan Election(double random) => TimeSpan.FromMilliseconds(50 + (450 * random));
}
