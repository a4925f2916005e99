using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>
/// What a gallery shows of each package: its C# is compiled here, and what needs no broker at a fixed port is run.
/// </summary>
public sealed class PackageReadmeTests
{
    public static TheoryData<string> Packages => ["Client", "Server", "Testing", "Protocol", "Disruptor"];

    [Theory]
    [MemberData(nameof(Packages))]
    public void The_example_of_a_package_is_what_is_compiled_word_for_word(string package)
    {
        string source = SourceTree.Read("tests/LightQ.IntegrationTests/Docs/PackageExamples.cs");
        string shown = string.Concat(
            Document.Read($"src/LightQ.{package}/README.md").Blocks("csharp").Select(Snippets.WithoutUsings)
        );
        Assert.Equal(string.Join('\n', Snippets.Between(source, $"// {package}: ")), shown);
    }

    [Theory]
    [MemberData(nameof(Packages))]
    [InlineData("Cli")]
    public void A_README_of_a_package_has_no_link_that_leads_nowhere_in_a_gallery(string package) =>
        Assert.Empty(Document.Read($"src/LightQ.{package}/README.md").LocalLinks);

    [Fact]
    public Task A_broker_in_the_same_process_starts_as_shown() =>
        PackageExamples.ServerAsync().WaitAsync(TestContext.Current.CancellationToken);

    [Fact]
    public Task A_test_moves_the_clock_as_shown() =>
        PackageExamples.TestingAsync().WaitAsync(TestContext.Current.CancellationToken);

    [Fact]
    public void A_ring_is_written_and_read_as_shown() => PackageExamples.Disruptor();
}
