using System.Globalization;
using Google.Protobuf.WellKnownTypes;

namespace LightQ.Dashboard.Texts;

/// <summary>Numbers, sizes and times, short enough for a table.</summary>
internal static class Figure
{
    /// <summary>Between a number and its unit, which stay in one line.</summary>
    private const string Space = "\u00A0";

    private static readonly string[] Units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

    /// <summary>A whole number with its thousands apart.</summary>
    public static string Whole(double value) => value.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>A number of things: 1 partition, 2 partitions.</summary>
    public static string Count(double number, string one) => $"{Whole(number)} {one}{(number == 1 ? "" : "s")}";

    /// <summary>A number in three digits: 12, 1.2k, 34.5M.</summary>
    public static string Short(double value) =>
        value switch
        {
            < 10 and > 0 when value != Math.Floor(value) => value.ToString("0.0", CultureInfo.InvariantCulture),
            < 10_000 => value.ToString("N0", CultureInfo.InvariantCulture),
            < 1_000_000 => (value / 1_000).ToString("0.0", CultureInfo.InvariantCulture) + "k",
            < 1_000_000_000 => (value / 1_000_000).ToString("0.0", CultureInfo.InvariantCulture) + "M",
            _ => (value / 1_000_000_000).ToString("0.0", CultureInfo.InvariantCulture) + "G",
        };

    /// <summary>A number of bytes.</summary>
    public static string Bytes(double bytes)
    {
        int unit = 0;
        for (; bytes >= 1024 && unit < Units.Length - 1; unit++)
            bytes /= 1024;
        return bytes.ToString(unit == 0 || bytes >= 100 ? "0" : "0.0", CultureInfo.InvariantCulture)
            + Space
            + Units[unit];
    }

    /// <summary>A rate of bytes.</summary>
    public static string ByteRate(double bytes) => Bytes(bytes) + "/s";

    /// <summary>A time span: 340 ms, 12 s, 5 min, 3 h, 2 d.</summary>
    public static string Span(TimeSpan span) =>
        span.TotalSeconds switch
        {
            < 0.001 => $"{Format(span.TotalMicroseconds, "0")}{Space}µs",
            < 0.01 => $"{Format(span.TotalMilliseconds, "0.0")}{Space}ms",
            < 1 => $"{Format(span.TotalMilliseconds, "0")}{Space}ms",
            < 10 => $"{Format(span.TotalSeconds, "0.0")}{Space}s",
            < 120 => $"{Format(span.TotalSeconds, "0")}{Space}s",
            < 7_200 => $"{Format(span.TotalMinutes, "0")}{Space}min",
            < 172_800 => $"{Format(span.TotalHours, "0")}{Space}h",
            _ => $"{Format(span.TotalDays, "0")}{Space}d",
        };

    /// <summary>A time span of a message; a dash when there is none.</summary>
    public static string Span(Duration? span) => span is null ? "–" : Span(span.ToTimeSpan());

    /// <summary>How long ago, or in how long, a moment is.</summary>
    public static string Ago(Timestamp? moment)
    {
        if (moment is null)
            return "–";
        TimeSpan span = DateTimeOffset.UtcNow - moment.ToDateTimeOffset();
        return span >= TimeSpan.Zero ? Span(span) + " ago" : "in " + Span(-span);
    }

    /// <summary>A moment by the clock of this browser.</summary>
    public static string Clock(Timestamp? moment) =>
        moment is null
            ? "–"
            : moment.ToDateTimeOffset().ToLocalTime().ToString("yyyy-MM-dd HH:mm:ss", CultureInfo.InvariantCulture);

    private static string Format(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);
}
