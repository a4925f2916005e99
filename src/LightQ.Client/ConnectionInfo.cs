namespace LightQ.Client;

/// <summary>A data-plane connection as the broker reports it.</summary>
/// <param name="Id">The id that the broker gave it.</param>
/// <param name="ClientName">The client's name for itself.</param>
/// <param name="RemoteAddress">Address and port of the peer.</param>
/// <param name="ConnectTime">When it connected.</param>
/// <param name="PublishersCount">Open producers.</param>
/// <param name="SubscribersCount">Open subscriptions.</param>
public sealed record ConnectionInfo(
    long Id,
    string ClientName,
    string RemoteAddress,
    DateTimeOffset ConnectTime,
    int PublishersCount,
    int SubscribersCount
)
{
    /// <summary>
    /// How far the client's clock was ahead of the broker's when it connected; null when the client did not say.
    /// </summary>
    public TimeSpan? ClockSkew { get; init; }
}
