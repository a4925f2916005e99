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

    /// <summary>
    /// 20 to 50 ms, about as long as a handover takes, and twice that with every further attempt, up to 200 to 500 ms,
    /// about as long as a failed leader is missing.
    /// </summary>
    public static TimeSpan Election(int attempt, double random)
    {
        double bound = Math.Min(500, 25 * Math.Pow(2, Math.Clamp(attempt, 1, 10)));
        return TimeSpan.FromMilliseconds(bound * (0.4 + (0.6 * random)));
    }
}
