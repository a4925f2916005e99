namespace LightQ.Protocol;

/// <summary>Time as the protocol and the journal write it: microseconds since 1970-01-01 UTC.</summary>
public static class UnixMicroseconds
{
    /// <summary>Converts from a point in time; exact to the microsecond.</summary>
    public static long From(DateTimeOffset time) =>
        (time.UtcTicks - DateTimeOffset.UnixEpoch.Ticks) / TimeSpan.TicksPerMicrosecond;

    /// <summary>
    /// Converts to a point in time; a time outside the years 1 to 9999 becomes the first or the last possible one.
    /// </summary>
    public static DateTimeOffset ToTime(long microseconds) =>
        microseconds < From(DateTimeOffset.MinValue) ? DateTimeOffset.MinValue
        : microseconds > From(DateTimeOffset.MaxValue) ? DateTimeOffset.MaxValue
        : DateTimeOffset.UnixEpoch.AddTicks(microseconds * TimeSpan.TicksPerMicrosecond);
}
