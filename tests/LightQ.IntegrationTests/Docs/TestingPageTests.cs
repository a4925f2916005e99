using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The test that docs/use/testing.md shows is compiled and run.</summary>
public sealed class TestingPageTests
{
    [Fact]
    public void The_example_is_that_of_the_page_word_for_word() =>
        Assert.Equal(
            Assert.Single(
                Snippets.Between(SourceTree.Read("tests/LightQ.IntegrationTests/Docs/TestingExamples.cs"), "// SHOWN: ")
            ),
            Snippets.WithoutUsings(Document.Read("docs/use/testing.md").Blocks("csharp").First())
        );

    [Fact]
    public Task A_test_with_a_broker_and_a_clock_as_shown() =>
        TestingExamples.TestWithABrokerAsync().WaitAsync(TestContext.Current.CancellationToken);
}
