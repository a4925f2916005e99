using System.Buffers;
using System.Globalization;

namespace LightQ.Cli.Options;

/// <summary>Durations as people write them: a number and ms, s, m, h or d.</summary>
internal static class DurationText
{
    private static readonly SearchValues<char> Digits = SearchValues.Create("0123456789.");

    /// <summary>As Go writes durations, to the microsecond: 87µs, 1.65ms, 5.005243s, 1m5s.</summary>
    public static string Format(TimeSpan duration)
    {
        long microseconds = (long)Math.Floor(duration.TotalMicroseconds);
        decimal seconds = microseconds % 60_000_000 / 1_000_000m;
        FormattableString text = microseconds switch
        {
            0 => $"0s",
            < 1000 => $"{microseconds}µs",
            < 1_000_000 => $"{microseconds / 1000m:0.###}ms",
            < 60_000_000 => $"{microseconds / 1_000_000m:0.######}s",
            < 3_600_000_000 => $"{microseconds / 60_000_000}m{seconds:0.######}s",
            _ => $"{microseconds / 3_600_000_000}h{microseconds / 60_000_000 % 60}m{seconds:0.######}s",
        };
        return text.ToString(CultureInfo.InvariantCulture);
    }

    public static bool TryParse(string text, out TimeSpan duration)
    {
        int digits = text.AsSpan().IndexOfAnyExcept(Digits);
        string unit = digits < 0 ? "" : text[digits..];
        double scale = unit switch
        {
            "ms" => 0.001,
            "s" or "" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86400,
            _ => 0,
        };
        string number = digits < 0 ? text : text[..digits];
        bool ok =
            double.TryParse(number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double value)
            && scale > 0
            && value * scale < TimeSpan.MaxValue.TotalSeconds / 2;
        duration = ok ? TimeSpan.FromSeconds(value * scale) : default;
        return ok;
    }
}
