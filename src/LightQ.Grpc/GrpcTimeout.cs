using System.Globalization;

namespace LightQ.Grpc;

/// <summary>The <c>grpc-timeout</c> header: up to eight digits and a unit, one of H, M, S, m, u, n.</summary>
internal static class GrpcTimeout
{
    private const int MaxDigits = 8;
    private const long MaxValue = 99_999_999;

    private static readonly (char Unit, long Ticks)[] Units =
    [
        ('u', TimeSpan.TicksPerMicrosecond),
        ('m', TimeSpan.TicksPerMillisecond),
        ('S', TimeSpan.TicksPerSecond),
        ('M', TimeSpan.TicksPerMinute),
        ('H', TimeSpan.TicksPerHour),
    ];

    /// <summary>The longest timer a <see cref="CancellationTokenSource"/> takes, 49 days.</summary>
    private static readonly TimeSpan LongestTimer = TimeSpan.FromMilliseconds(uint.MaxValue - 2);

    /// <summary>The timeout as a timer takes it: not negative, not above the longest.</summary>
    public static TimeSpan ToTimer(TimeSpan timeout) =>
        timeout <= TimeSpan.Zero ? TimeSpan.Zero : timeout < LongestTimer ? timeout : LongestTimer;

    /// <summary>The shortest form in the finest unit that fits; rounded up, so that the server never gives up first.</summary>
    public static string Format(TimeSpan timeout)
    {
        if (timeout <= TimeSpan.Zero) return "0n";
        if (timeout.Ticks < MaxValue / TimeSpan.NanosecondsPerTick)
            return string.Create(CultureInfo.InvariantCulture, $"{timeout.Ticks * TimeSpan.NanosecondsPerTick}n");
        foreach ((char unit, long ticks) in Units)
        {
            long value = (timeout.Ticks / ticks) + (timeout.Ticks % ticks == 0 ? 0 : 1);
            if (value <= MaxValue) return string.Create(CultureInfo.InvariantCulture, $"{value}{unit}");
        }

        return string.Create(CultureInfo.InvariantCulture, $"{MaxValue}H");
    }

    public static bool TryParse(ReadOnlySpan<char> text, out TimeSpan timeout)
    {
        timeout = default;
        if (text.Length is < 2 or > MaxDigits + 1) return false;
        if (!long.TryParse(text[..^1], NumberStyles.None, CultureInfo.InvariantCulture, out long value)) return false;
        if (text[^1] == 'n')
        {
            timeout = TimeSpan.FromTicks(value / TimeSpan.NanosecondsPerTick);
            return true;
        }

        foreach ((char unit, long ticks) in Units)
        {
            if (unit != text[^1]) continue;
            timeout = TimeSpan.FromTicks(value * ticks);
            return true;
        }

        return false;
    }
}
