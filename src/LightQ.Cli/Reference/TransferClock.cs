using System.Diagnostics;
using LightQ.Protocol;

namespace LightQ.Cli.Reference;

/// <summary>Stopwatch ticks, which all processes of a machine share, in microseconds.</summary>
internal static class TransferClock
{
    /// <summary>What the wall clock is ahead, in microseconds.</summary>
    public static long WallClockUs =>
        UnixMicroseconds.From(DateTimeOffset.UtcNow) - ToMicroseconds(Stopwatch.GetTimestamp());

    public static long ToMicroseconds(long ticks) =>
        Stopwatch.GetElapsedTime(0, ticks).Ticks / TimeSpan.TicksPerMicrosecond;
}
