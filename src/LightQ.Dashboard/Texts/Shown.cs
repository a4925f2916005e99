using System.Globalization;
using System.Text;

namespace LightQ.Dashboard.Texts;

/// <summary>
/// Text that came from outside, made safe to look at. Blazor shows it as text in any case; this makes visible what a
/// reader would not see: control characters, and those that change the direction in which text is read.
/// </summary>
internal static class Shown
{
    private const int MostCharacters = 20_000;

    /// <summary>A name or a value in one line.</summary>
    public static string Line(string text, int most = 300) => Escape(text, most, keepsLines: false);

    /// <summary>A text of several lines.</summary>
    public static string Lines(string text, int most = MostCharacters) => Escape(text, most, keepsLines: true);

    private static string Escape(string text, int most, bool keepsLines)
    {
        var shown = new StringBuilder(Math.Min(text.Length, most) + 16);
        foreach (Rune rune in text.EnumerateRunes())
        {
            if (shown.Length >= most)
                return shown.Append(CultureInfo.InvariantCulture, $"… ({text.Length:N0} characters)").ToString();
            if (keepsLines && rune.Value is '\n' or '\t')
                shown.Append((char)rune.Value);
            else if (IsHidden(rune))
                shown.Append(CultureInfo.InvariantCulture, $"\\u{{{rune.Value:X4}}}");
            else
                shown.Append(rune.ToString());
        }
        return shown.ToString();
    }

    /// <summary>Control and format characters (bidi marks, zero widths, tags), and lone surrogates.</summary>
    private static bool IsHidden(Rune rune) =>
        rune == Rune.ReplacementChar
            ? false
            : Rune.GetUnicodeCategory(rune)
                is UnicodeCategory.Control
                    or UnicodeCategory.Format
                    or UnicodeCategory.LineSeparator
                    or UnicodeCategory.ParagraphSeparator
                    or UnicodeCategory.PrivateUse
                    or UnicodeCategory.Surrogate
                    or UnicodeCategory.OtherNotAssigned;
}
