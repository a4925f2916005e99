using System.Globalization;
using LightQ.Cli.Options;

namespace LightQ.Cli.Top;

/// <summary>A value of the table. It becomes a text when it is shown, which of many rows only a few are.</summary>
internal readonly record struct TopCell
{
    private const string Unknown = "-";

    private readonly string? _text;
    private readonly double? _value;

    private TopCell(TopUnit unit, string? text, double? value, TopMark mark) =>
        (Unit, _text, _value, Mark) = (unit, text, value, mark);

    public TopUnit Unit { get; }

    public TopMark Mark { get; }

    public static TopCell Text(string text, TopMark mark = TopMark.None) => new(TopUnit.Text, text, null, mark);

    public static TopCell Number(double? value, TopMark mark = TopMark.None) => new(TopUnit.Number, null, value, mark);

    public static TopCell Bytes(double? value) => new(TopUnit.Bytes, null, value, TopMark.None);

    public static TopCell Seconds(double? value, TopMark mark = TopMark.None) =>
        new(TopUnit.Seconds, null, value, mark);

    /// <summary>Which of two comes first when what is largest, or first in the alphabet, is on top.</summary>
    public static int Compare(TopCell a, TopCell b) =>
        a.Unit == TopUnit.Text
            ? string.CompareOrdinal(a._text, b._text)
            : (b._value ?? double.NegativeInfinity).CompareTo(a._value ?? double.NegativeInfinity);

    /// <summary>The whole value, for programs.</summary>
    public string Exact() =>
        Unit == TopUnit.Text ? Visible(_text!)
        : _value is not { } value ? Unknown
        : Unit == TopUnit.Seconds ? value.ToString("0.###", CultureInfo.InvariantCulture)
        : value.ToString(value % 1 == 0 ? "0" : "0.0", CultureInfo.InvariantCulture);

    /// <summary>Few characters, for people.</summary>
    public string Short() =>
        Unit == TopUnit.Text ? Visible(_text!)
        : _value is not { } value ? Unknown
        : Unit == TopUnit.Bytes ? SizeText.Short(value)
        : Unit == TopUnit.Seconds ? Age(value)
        : Scaled(value);

    /// <summary>Names come from clients: what would move the cursor or change the terminal is not written.</summary>
    private static string Visible(string text) =>
        text.Any(char.IsControl) ? string.Concat(text.Select(c => char.IsControl(c) ? '?' : c)) : text;

    private static string Scaled(double value)
    {
        if (value < 9.95)
            return value.ToString(value % 1 == 0 ? "0" : "0.0", CultureInfo.InvariantCulture);
        if (value < 99_999.5)
            return value.ToString("0", CultureInfo.InvariantCulture);
        string units = "kMGTP";
        int unit = -1;
        for (; value >= 999.5 && unit < units.Length - 1; unit++)
            value /= 1000;
        return value.ToString(value < 99.95 ? "0.0" : "0", CultureInfo.InvariantCulture) + units[unit];
    }

    private static string Age(double seconds)
    {
        (double Length, string Unit)[] units = [(86_400, "d"), (3600, "h"), (60, "m")];
        foreach ((double length, string unit) in units)
        {
            if (seconds >= 2 * length)
                return Math.Floor(seconds / length).ToString("0", CultureInfo.InvariantCulture) + unit;
        }
        return seconds.ToString(seconds is > 0 and < 10 ? "0.0" : "0", CultureInfo.InvariantCulture) + "s";
    }
}
