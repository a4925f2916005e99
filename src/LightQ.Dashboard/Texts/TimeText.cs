using System.Globalization;
using Google.Protobuf.WellKnownTypes;

namespace LightQ.Dashboard.Texts;

/// <summary>Time spans and sizes as people write them in a field: 30s, 7d, 64MiB.</summary>
internal static class TimeText
{
    /// <summary>Some 10,000 years: a longer time is no limit that anybody means.</summary>
    private const double MostDays = 3_650_000;

    private static readonly (string Unit, TimeSpan Length)[] Units =
    [
        ("ms", TimeSpan.FromMilliseconds(1)),
        ("s", TimeSpan.FromSeconds(1)),
        ("min", TimeSpan.FromMinutes(1)),
        ("m", TimeSpan.FromMinutes(1)),
        ("h", TimeSpan.FromHours(1)),
        ("d", TimeSpan.FromDays(1)),
    ];

    private static readonly (string Unit, double Length)[] Sizes =
    [
        ("KiB", 1024.0),
        ("MiB", 1024.0 * 1024),
        ("GiB", 1024.0 * 1024 * 1024),
        ("TiB", 1024.0 * 1024 * 1024 * 1024),
        ("B", 1.0),
    ];

    /// <summary>Reads a time span; null for an empty field.</summary>
    /// <param name="field">What the field is called on the page.</param>
    /// <param name="text">What it holds.</param>
    /// <exception cref="FormatException">It is none.</exception>
    public static Duration? ReadSpan(string field, string text)
    {
        if (text.Trim().Length == 0)
            return null;
        foreach ((string unit, TimeSpan length) in Units)
        {
            if (TryNumber(text, unit, out double number) && number * length.TotalDays < MostDays)
                return Duration.FromTimeSpan(length * number);
        }

        throw Refuse(field, text, "a time span such as 500ms, 30s, 5min, 12h or 7d");
    }

    /// <summary>Reads a size; null for an empty field.</summary>
    /// <exception cref="FormatException">It is none.</exception>
    public static ulong? ReadSize(string field, string text)
    {
        if (text.Trim().Length == 0)
            return null;
        foreach ((string unit, double length) in Sizes)
        {
            if (TryNumber(text, unit, out double number) && number * length < long.MaxValue)
                return (ulong)(number * length);
        }

        return ulong.TryParse(text.Trim(), CultureInfo.InvariantCulture, out ulong bytes)
            ? bytes
            : throw Refuse(field, text, "a number of bytes, or a size such as 64KiB, 10MiB or 5GiB");
    }

    /// <summary>Reads a whole number; null for an empty field.</summary>
    /// <exception cref="FormatException">It is none.</exception>
    public static uint? ReadNumber(string field, string text) =>
        text.Trim().Length == 0 ? null
        : uint.TryParse(text.Trim(), CultureInfo.InvariantCulture, out uint number) ? number
        : throw Refuse(field, text, $"a whole number from 0 to {uint.MaxValue}");

    /// <summary>Reads an offset; 0 for an empty field.</summary>
    /// <exception cref="FormatException">It is none.</exception>
    public static long ReadOffset(string field, string text) =>
        text.Trim().Length == 0 ? 0
        : long.TryParse(text.Trim(), NumberStyles.None, CultureInfo.InvariantCulture, out long offset) ? offset
        : throw Refuse(field, text, "a whole number of 0 or more");

    /// <summary>A time span as it can be read again; empty for none.</summary>
    public static string Write(Duration? span)
    {
        if (span is null || span.ToTimeSpan() is var time && time == TimeSpan.Zero)
            return "";
        (string unit, TimeSpan length) = Units
            .Where(u => u.Unit != "m")
            .Last(u => time.Ticks % u.Length.Ticks == 0 || u.Unit == "ms");
        return (time / length).ToString("0.###", CultureInfo.InvariantCulture) + unit;
    }

    /// <summary>A size as it can be read again; empty for none.</summary>
    public static string Write(ulong bytes)
    {
        if (bytes == 0)
            return "";
        (string unit, double length) = Sizes[..^1].LastOrDefault(s => bytes % s.Length == 0, (Unit: "", Length: 1.0));
        return (bytes / length).ToString("0", CultureInfo.InvariantCulture) + unit;
    }

    private static FormatException Refuse(string field, string text, string allowed) =>
        new($"{field} is '{text}'; allowed: {allowed}.");

    private static bool TryNumber(string text, string unit, out double number)
    {
        text = text.Trim();
        number = 0;
        return text.EndsWith(unit, StringComparison.OrdinalIgnoreCase)
            && double.TryParse(
                text.AsSpan(0, text.Length - unit.Length).Trim(),
                NumberStyles.AllowDecimalPoint,
                CultureInfo.InvariantCulture,
                out number
            );
    }
}
