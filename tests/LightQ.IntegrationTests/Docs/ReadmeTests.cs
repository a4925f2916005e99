using LightQ.Server;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The README's C# is what these tests compile and run.</summary>
public sealed class ReadmeTests
{
    private const string Marker = "// README: ";

    [Fact]
    public void The_example_is_that_of_the_README_word_for_word()
    {
        string source = SourceTree.Read("tests/LightQ.IntegrationTests/Docs/ReadmeExamples.cs");
        string shown = Assert.Single(Document.Read("README.md").Blocks("csharp").Select(Snippets.WithoutUsings));
        Assert.Equal(Assert.Single(Snippets.Between(source, Marker)), shown);
    }

    [Fact]
    public void The_example_needs_no_other_namespaces_than_the_README_names()
    {
        string source = SourceTree.Read("tests/LightQ.IntegrationTests/Docs/ReadmeExamples.cs");
        Assert.Equal(
            Usings(source),
            Document.Read("README.md").Blocks("csharp").SelectMany(Usings).Distinct().Order(StringComparer.Ordinal)
        );
    }

    [Fact]
    public async Task Publish_and_consume_as_shown()
    {
        var examples = new ReadmeExamples();
        await examples.PublishAndConsumeAsync().WaitAsync(TestContext.Current.CancellationToken);
        Assert.Collection(
            examples.Lines,
            line => Assert.Equal("offset 0, safe as Fsync", line),
            line => Assert.StartsWith("first at 20", line, StringComparison.Ordinal),
            line => Assert.Equal("consumed 1001", line)
        );
    }

    [Fact]
    public void The_ports_are_the_defaults()
    {
        var options = new LightQServerOptions();
        string text = Document.Read("README.md").Text;
        Assert.Contains($"| {options.DataPort} | data plane |", text, StringComparison.Ordinal);
        Assert.Contains($"| {options.ControlPort} | control plane |", text, StringComparison.Ordinal);
        Assert.Contains($"| {options.WebPort} | web ", text, StringComparison.Ordinal);
    }

    private static IEnumerable<string> Usings(string code) =>
        code.Split('\n').Where(line => line.StartsWith("using LightQ.", StringComparison.Ordinal));
}
