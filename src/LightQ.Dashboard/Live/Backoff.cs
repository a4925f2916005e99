namespace LightQ.Dashboard.Live;

/// <summary>Pauses between tries: twice as long after each, a quarter of a minute at most.</summary>
internal sealed class Backoff
{
    private static readonly TimeSpan First = TimeSpan.FromSeconds(1),
        Longest = TimeSpan.FromSeconds(15);

    private TimeSpan _next = First;

    /// <summary>A try has failed.</summary>
    /// <returns>How long to wait: up to a quarter less, so that not all pages of a broker come at once.</returns>
    public TimeSpan Next()
    {
        TimeSpan pause = _next * (1 - (Random.Shared.NextDouble() / 4));
        _next = _next * 2 < Longest ? _next * 2 : Longest;
        return pause;
    }

    /// <summary>A try has gone well.</summary>
    public void Reset() => _next = First;
}
