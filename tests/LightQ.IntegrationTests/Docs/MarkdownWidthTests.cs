using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>No line of a document has more than 120 columns. LIGHTQ_WRITE_DOCS=1 fills the paragraphs.</summary>
public sealed class MarkdownWidthTests
{
    public static TheoryData<string> Pages => [.. SourceTree.Pages];

    [Theory]
    [MemberData(nameof(Pages))]
    public void No_line_is_too_wide(string path)
    {
        string text = SourceTree.Read(path);
        if (Environment.GetEnvironmentVariable("LIGHTQ_WRITE_DOCS") == "1" && MarkdownWidth.TooWide(text).Any())
            File.WriteAllText(SourceTree.PathOf(path), text = MarkdownWidth.Filled(text));
        Assert.Empty(MarkdownWidth.TooWide(text));
    }

    [Fact]
    public void A_paragraph_that_is_too_wide_is_filled_and_all_else_stays()
    {
        string words = string.Join(' ', Enumerable.Repeat("word", 30));
        string text =
            $"# Heading {words}\n\n- `a b` {words}\n  more\n- short\n  lines\n\n"
            + $"| {words} |\n\n```sh\n{words}\n```\n";
        string filled = MarkdownWidth.Filled(text);

        Assert.All(
            MarkdownWidth.TooWide(filled),
            line => Assert.StartsWith("# Heading", line, StringComparison.Ordinal)
        );
        Assert.Contains("\n- `a b` word", filled, StringComparison.Ordinal);
        Assert.Contains("\n  word word", filled, StringComparison.Ordinal);
        Assert.Contains("word more\n- short\n  lines\n\n| word", filled, StringComparison.Ordinal);
        Assert.Contains($"```sh\n{words}\n```", filled, StringComparison.Ordinal);
        Assert.Equal(filled, MarkdownWidth.Filled(filled));
        Assert.Equal(text.Split().Where(w => w.Length != 0), filled.Split().Where(w => w.Length != 0));
    }

    [Theory]
    [InlineData("csharp", 1)]
    [InlineData("sh", 0)]
    public void A_block_of_code_is_held_where_it_can_be_broken(string language, int tooWide)
    {
        string text = $"```{language}\n{new string('x', 100)} {new string('y', 30)}\n```\n";
        Assert.Equal(tooWide, MarkdownWidth.TooWide(text).Count());
    }
}
