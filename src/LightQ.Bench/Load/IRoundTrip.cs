namespace LightQ.Bench.Load;

/// <summary>An end of a load whose connection can be asked for a round trip.</summary>
internal interface IRoundTrip
{
    /// <summary>How long the broker's answer takes.</summary>
    Task<TimeSpan> PingAsync(CancellationToken cancellationToken);
}
