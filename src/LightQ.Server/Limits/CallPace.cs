namespace LightQ.Server.Limits;

/// <summary>
/// How fast one connection may call, on average: each call costs time, and a connection that has used more time than
/// has passed is served again when it has passed. Thread-safe.
/// </summary>
/// <param name="callsPerSecond">Calls a second, now; 0 for any number.</param>
/// <param name="time">The clock.</param>
internal sealed class CallPace(Func<int> callsPerSecond, TimeProvider time)
{
    /// <summary>What a call costs; what is less than one, a part of it.</summary>
    public const int Call = 100;

    /// <summary>What may be saved up: so much time's worth of calls may come at once.</summary>
    private static readonly TimeSpan Burst = TimeSpan.FromMilliseconds(200);

    /// <summary>A portion is what may be done in a hundredth of a second.</summary>
    private const int PortionsPerSecond = 100;

    private readonly Lock _lock = new();
    private long _paidUntil = long.MinValue;

    /// <summary>How long nothing more is to be heard of the connection; zero or less when something may.</summary>
    public TimeSpan Debt
    {
        get
        {
            lock (_lock)
            {
                return _paidUntil == long.MinValue
                    ? TimeSpan.Zero
                    : time.GetElapsedTime(time.GetTimestamp(), _paidUntil);
            }
        }
    }

    /// <summary>
    /// What is heard at a time, so that the calls of one connection are no wall before those of others.
    /// </summary>
    public long Portion =>
        callsPerSecond() is var rate && rate == 0
            ? long.MaxValue
            : Math.Max(Call, (long)rate * Call / PortionsPerSecond);

    /// <summary>Something was done.</summary>
    /// <param name="cost">What it costs: <see cref="Call"/> for a call.</param>
    public void Spend(long cost)
    {
        int rate = callsPerSecond();
        if (rate == 0 || cost == 0)
            return;
        long now = time.GetTimestamp(),
            second = time.TimestampFrequency;
        long least = now - (long)(Burst.TotalSeconds * second);
        lock (_lock)
            _paidUntil = Math.Max(_paidUntil, least) + (cost * second / ((long)rate * Call));
    }
}
