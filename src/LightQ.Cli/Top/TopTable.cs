using System.Text;
using Spectre.Console.Rendering;

namespace LightQ.Cli.Top;

/// <summary>Sets rows under their columns.</summary>
internal static class TopTable
{
    /// <summary>What a column of texts has at least, if its texts are that long.</summary>
    private const int LeastText = 12;

    private const int Gap = 1;

    /// <summary>All columns with exact values, as wide as they are: for programs.</summary>
    public static IEnumerable<string> Plain(IReadOnlyList<string> columns, IReadOnlyList<TopCell[]> rows)
    {
        string[][] texts = [.. rows.Select(row => Array.ConvertAll(row, c => c.Exact()))];
        int[] widths = [.. columns.Select((c, i) => Widest(c, texts.Select(t => t[i])))];
        bool[] areTexts = [.. columns.Select((_, i) => IsText(rows, i))];
        foreach (string[] line in texts.Prepend([.. columns]))
            yield return string.Join("  ", line.Select((t, i) => Set(t, widths[i], areTexts[i]))).TrimEnd();
    }

    /// <summary>
    /// As many columns as a window has room for, with short values. Texts are cut where they are too long.
    /// </summary>
    /// <param name="columns">The columns, the most important first.</param>
    /// <param name="rows">The rows.</param>
    /// <param name="width">Characters in a line.</param>
    /// <param name="sorted">The column by which they are sorted, which gets a star.</param>
    /// <param name="hasColours">Whether marks are colours.</param>
    public static IEnumerable<string> Fitted(
        IReadOnlyList<string> columns,
        IReadOnlyList<TopCell[]> rows,
        int width,
        string sorted,
        bool hasColours
    )
    {
        string[] heads = [.. columns.Select(c => c == sorted ? c + "*" : c)];
        string[][] texts = [.. rows.Select(row => Array.ConvertAll(row, c => c.Short()))];
        bool[] areTexts = [.. columns.Select((_, i) => IsText(rows, i))];
        int[] wanted = [.. heads.Select((h, i) => Widest(h, texts.Select(t => t[i])))];
        int[] widths = Share(wanted, areTexts, [.. heads.Select(h => h.Length)], width);

        yield return Cut(string.Join(' ', widths.Select((w, i) => Set(heads[i], w, areTexts[i]))), width);
        for (int row = 0; row < texts.Length; row++)
        {
            var line = new StringBuilder();
            for (int i = 0; i < widths.Length; i++)
            {
                if (i > 0)
                    line.Append(' ', Gap);
                string text = Set(texts[row][i], widths[i], areTexts[i]);
                line.Append(hasColours ? Ansi.Coloured(text, rows[row][i].Mark) : text);
            }
            yield return line.ToString();
        }
    }

    /// <summary>Cuts a text that is too long, and shows that it is cut.</summary>
    public static string Cut(string text, int width)
    {
        if (WidthOf(text) <= width)
            return text;
        int length = Math.Min(text.Length, Math.Max(0, width - 1));
        while (length > 0 && WidthOf(text[..length]) > width - 1)
            length--;
        if (length > 0 && char.IsHighSurrogate(text[length - 1]))
            length--;
        return width < 1 ? "" : text[..length] + "…";
    }

    /// <summary>The widths of the columns that fit, the first of them in any case.</summary>
    private static int[] Share(int[] wanted, bool[] areTexts, int[] heads, int width)
    {
        var widths = new List<int>();
        int used = 0;
        for (int i = 0; i < wanted.Length; i++)
        {
            int least = areTexts[i] ? Math.Min(wanted[i], Math.Max(LeastText, heads[i])) : wanted[i];
            int more = least + (i == 0 ? 0 : Gap);
            if (i > 0 && used + more > width)
                break;
            widths.Add(Math.Min(least, width));
            used += more;
        }

        // What is left makes texts longer, one character each in turn.
        int[] open = [.. Enumerable.Range(0, widths.Count).Where(i => areTexts[i] && widths[i] < wanted[i])];
        while (used < width && open.Length > 0)
        {
            foreach (int i in open.Take(width - used).ToArray())
            {
                widths[i]++;
                used++;
            }
            open = [.. open.Where(i => widths[i] < wanted[i])];
        }
        return [.. widths];
    }

    private static bool IsText(IReadOnlyList<TopCell[]> rows, int column) =>
        rows.Count == 0 ? column == 0 : rows[0][column].Unit == TopUnit.Text;

    private static int Widest(string head, IEnumerable<string> texts) =>
        texts.Select(WidthOf).Append(head.Length).Max();

    private static string Set(string text, int width, bool isText)
    {
        string cut = Cut(text, width);
        int missing = Math.Max(0, width - WidthOf(cut));
        return isText ? cut + new string(' ', missing) : new string(' ', missing) + cut;
    }

    /// <summary>Some characters take two places.</summary>
    private static int WidthOf(string text) => Ascii.IsValid(text) ? text.Length : new Segment(text).CellCount();
}
