using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The test that docs/use/testing.md shows is compiled and run.</summary>
public sealed class TestingPageTests
{
    // What is behind them is a test of a handler, which has its own.
    private const int WithABroker = 2;

    [Fact]
    public void The_examples_are_those_of_the_page_word_for_word() =>
        Assert.Equal(
            Snippets.Between(SourceTree.Read("tests/LightQ.IntegrationTests/Docs/TestingExamples.cs"), "// SHOWN: "),
            Document.Read("docs/use/testing.md").Blocks("csharp").Take(WithABroker).Select(Snippets.WithoutUsings)
        );

    [Fact]
    public Task A_test_with_a_broker_and_a_clock_as_shown() =>
        TestingExamples.TestWithABrokerAsync().WaitAsync(TestContext.Current.CancellationToken);

    [Fact]
    public Task A_test_of_a_web_application_as_shown() =>
        TestingExamples.TestOfAWebApplicationAsync().WaitAsync(TestContext.Current.CancellationToken);
}
