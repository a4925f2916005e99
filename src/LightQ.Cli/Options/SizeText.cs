using System.Globalization;

namespace LightQ.Cli.Options;

/// <summary>Sizes as people write them: a number and KiB, MiB or GiB.</summary>
internal static class SizeText
{
    private const string ShortUnits = "BKMGT";
    private static readonly string[] Units = ["KiB", "MiB", "GiB"];

    /// <summary>One or two digits of a size in B, K, M, G or T, which are powers of 1024: 512B, 1.5K, 1000K.</summary>
    public static string Short(double bytes)
    {
        int unit = 0;
        for (; bytes >= 1024 && unit < ShortUnits.Length - 1; unit++)
            bytes /= 1024;
        double tenths = Math.Floor((bytes * 10) + 0.5) / 10;
        return tenths.ToString(unit > 0 && tenths < 10 ? "0.0" : "0", CultureInfo.InvariantCulture) + ShortUnits[unit];
    }

    public static bool TryParse(string text, out long bytes)
    {
        int unit = Array.FindIndex(Units, u => text.EndsWith(u, StringComparison.OrdinalIgnoreCase));
        ReadOnlySpan<char> number = unit < 0 ? text : text.AsSpan(0, text.Length - Units[unit].Length);
        int shift = 10 * (unit + 1);
        bool ok =
            long.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out long value)
            && value <= long.MaxValue >> shift;
        bytes = ok ? value << shift : 0;
        return ok;
    }
}
