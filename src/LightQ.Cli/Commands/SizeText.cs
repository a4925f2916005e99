using System.Globalization;

namespace LightQ.Cli.Commands;

/// <summary>Sizes as people write them: a number and KiB, MiB or GiB.</summary>
internal static class SizeText
{
    private static readonly string[] Units = ["KiB", "MiB", "GiB"];

    public static bool TryParse(string text, out long bytes)
    {
        int unit = Array.FindIndex(Units, u => text.EndsWith(u, StringComparison.OrdinalIgnoreCase));
        ReadOnlySpan<char> number = unit < 0 ? text : text.AsSpan(0, text.Length - Units[unit].Length);
        int shift = 10 * (unit + 1);
        bool ok = long.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out long value) && value <= long.MaxValue >> shift;
        bytes = ok ? value << shift : 0;
        return ok;
    }
}
