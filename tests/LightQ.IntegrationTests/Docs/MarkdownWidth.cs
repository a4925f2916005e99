using System.Text.RegularExpressions;

namespace LightQ.IntegrationTests.Docs;

/// <summary>How wide the lines of a Markdown file are: 120 columns, so that a text fits beside its review.</summary>
internal static partial class MarkdownWidth
{
    public const int Columns = 120;

    private const string Fence = "```";

    /// <summary>
    /// Lines that are wider and need not be. A row of a table has to be one line, and so has what contains no space; a
    /// line of a shell, JSON or other block may have no place to break it, but C# has.
    /// </summary>
    public static IEnumerable<string> TooWide(string text)
    {
        string? language = null;
        foreach (string line in text.Split('\n'))
        {
            if (line.StartsWith(Fence, StringComparison.Ordinal))
                language = language is null ? line[Fence.Length..] : null;
            else if (line.Length > Columns && language is null or "csharp" && !line.StartsWith('|') && HasSpace(line))
                yield return line;
        }
    }

    /// <summary>The text with every paragraph and list item that has a line too wide filled anew.</summary>
    public static string Filled(string text)
    {
        List<string> filled = [],
            block = [];
        bool fenced = false;
        foreach (string line in text.Split('\n'))
        {
            bool fence = line.StartsWith(Fence, StringComparison.Ordinal);
            fenced ^= fence;
            if (fence || fenced || line.Trim().Length == 0 || Apart().IsMatch(line))
            {
                Flush();
                filled.Add(line);
                continue;
            }
            if (Item().IsMatch(line))
                Flush();
            block.Add(line);
        }
        Flush();
        return string.Join('\n', filled);

        void Flush()
        {
            filled.AddRange(block.Exists(line => line.Length > Columns) ? Fill(block) : block);
            block.Clear();
        }
    }

    private static IEnumerable<string> Fill(List<string> block)
    {
        string first = Margin().Match(block[0]).Value,
            rest = new(' ', first.Length),
            line = first;
        bool begins = true;
        foreach (Match word in Word().Matches(string.Join(' ', block)[first.Length..]))
        {
            if (begins || line.Length + 1 + word.Length <= Columns || Mark().IsMatch(word.Value))
            {
                line += begins ? word.Value : $" {word.Value}";
                begins = false;
                continue;
            }
            yield return line;
            line = rest + word.Value;
        }
        yield return line;
    }

    private static bool HasSpace(string line) => line.Trim().Contains(' ', StringComparison.Ordinal);

    /// <summary>Rows, headings, comments and pictures: no part of a paragraph.</summary>
    [GeneratedRegex(@"^\s*(\||#|<!--|!\[)")]
    private static partial Regex Apart();

    /// <summary>The beginning of a list item.</summary>
    [GeneratedRegex(@"^\s*([-*+]|\d+[.)])\s+")]
    private static partial Regex Item();

    /// <summary>What stands in front of a list item's text, or of a paragraph that is moved in.</summary>
    [GeneratedRegex(@"^\s*(([-*+]|\d+[.)])\s+)?")]
    private static partial Regex Margin();

    /// <summary>A word; a span of code is never parted.</summary>
    [GeneratedRegex(@"(`[^`]*`|[^\s`])+")]
    private static partial Regex Word();

    /// <summary>What would begin a list, a heading or a quotation if it stood first in a line.</summary>
    [GeneratedRegex(@"^([-+*]|\d+[.)]|#+|>.*|\|.*)$")]
    private static partial Regex Mark();
}
