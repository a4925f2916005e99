using System.Text.RegularExpressions;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>
/// Lines of C# have 120 columns, so that code and its review stand side by side on one screen. CSharpier breaks code;
/// comments and strings are broken by hand.
/// </summary>
public sealed partial class LineWidthTests
{
    private const int Columns = 120;

    public static TheoryData<string> Widths =>
        [
            new string('x', Columns + 1),
            "/// " + string.Concat(Enumerable.Repeat("word ", 30)),
            "        int sum = " + string.Join(" + ", Enumerable.Repeat("first", 20)) + ";",
        ];

    [Fact]
    public void No_line_is_wider_but_what_cannot_be_broken()
    {
        string[] wide = [.. SourceTree.Sources().SelectMany(Wide)];
        Assert.True(wide.Length == 0, string.Join('\n', wide));
    }

    [Theory]
    [MemberData(nameof(Widths))]
    public void A_line_is_too_wide_where_it_could_be_broken(string line) =>
        Assert.Equal(line.Contains(' ', StringComparison.Ordinal), IsWide(line));

    private static IEnumerable<string> Wide(string path)
    {
        bool isRaw = false,
            isCode = false;
        int number = 0;
        foreach (string line in File.ReadLines(path))
        {
            number++;
            bool opensOrCloses = RawQuotes().Count(line) % 2 != 0;
            isCode = isCode
                ? !line.Contains("</code>", StringComparison.Ordinal)
                : line.EndsWith("<code>", StringComparison.Ordinal);
            if (IsWide(line) && !isRaw && !isCode && !opensOrCloses)
                yield return $"{Path.GetRelativePath(SourceTree.Root, path)}:{number} has {line.Length} columns";
            isRaw ^= opensOrCloses;
        }
    }

    /// <summary>Whether it has more columns, and neither a word, a tag nor a string that takes most of them.</summary>
    private static bool IsWide(string line) => line.Length > Columns && !Unbreakable().IsMatch(line);

    [GeneratedRegex("\"\"\"")]
    private static partial Regex RawQuotes();

    // A word, a tag with its attributes, a verbatim string, a raw string in one line.
    [GeneratedRegex("""\S{70}|<[^<>]{60,}>|@"[^"]{50,}|"{3}.{50,}"{3}""")]
    private static partial Regex Unbreakable();
}
