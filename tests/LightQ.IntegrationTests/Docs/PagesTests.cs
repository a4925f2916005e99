using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>How pages must be for a reader to find and read them.</summary>
public sealed class PagesTests
{
    private const string Index = "docs/README.md";
    private const int MostLinesOfTheReadme = 150;

    [Fact]
    public void The_README_is_short_enough_to_be_read() =>
        Assert.InRange(SourceTree.Read("README.md").TrimEnd().Split('\n').Length, 1, MostLinesOfTheReadme);

    [Fact]
    public void The_index_has_every_page_of_the_documents_once()
    {
        string[] pages =
        [
            .. SourceTree.Pages.Where(p => p.StartsWith("docs/", StringComparison.Ordinal) && p != Index),
        ];
        string[] listed =
        [
            .. Document
                .Read(Index)
                .LocalLinks.Select(link => "docs/" + link.File)
                .Where(file => !file.Contains("..", StringComparison.Ordinal)),
        ];
        Assert.NotEmpty(pages);
        Assert.Equal(pages.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }
}
