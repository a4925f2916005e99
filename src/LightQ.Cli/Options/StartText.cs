using System.Globalization;
using LightQ.Client;

namespace LightQ.Cli.Options;

/// <summary>Where a subscription begins, as people write it.</summary>
internal static class StartText
{
    /// <param name="text">earliest, latest, committed, an offset, a time, or an age such as 15m.</param>
    /// <param name="now">What ages are counted from.</param>
    /// <param name="start">The position.</param>
    public static bool TryParse(string text, DateTimeOffset now, out StartPosition start)
    {
        StartPosition? found = text switch
        {
            "earliest" => StartPosition.Earliest,
            "latest" => StartPosition.Latest,
            "committed" => StartPosition.Committed,
            _ when long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long offset) =>
                StartPosition.Offset(offset),
            _ when DurationText.TryParse(text, out TimeSpan age) && age <= now - DateTimeOffset.MinValue =>
                StartPosition.Time(now - age),
            _ when DateTimeOffset.TryParse(
                    text,
                    CultureInfo.InvariantCulture,
                    DateTimeStyles.AssumeUniversal,
                    out DateTimeOffset time
                ) => StartPosition.Time(time),
            _ => null,
        };
        start = found ?? default;
        return found is not null;
    }
}
