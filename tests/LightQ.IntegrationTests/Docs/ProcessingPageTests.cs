using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of docs/use/processing.md is what these tests compile and run.</summary>
public sealed class ProcessingPageTests
{
    [Fact]
    public void The_examples_are_those_of_the_page_word_for_word() =>
        Assert.Equal(
            Snippets.Between(SourceTree.Read("tests/LightQ.IntegrationTests/Docs/ProcessingExamples.cs"), "// SHOWN: "),
            Document.Read("docs/use/processing.md").Blocks("csharp").Select(Snippets.WithoutUsings)
        );

    [Fact]
    public async Task A_processor_and_a_fetch_as_shown()
    {
        CancellationToken cancelled = TestContext.Current.CancellationToken;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, RetryDelay = TimeSpan.Zero },
            cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: cancelled);
        using BatchBuilder batch = producer.CreateBatch();
        foreach (string order in (string[])["one", "odd", "two"])
            Assert.True(batch.TryAdd(System.Text.Encoding.UTF8.GetBytes(order)));
        await producer.PublishAsync(batch, cancelled);

        var processing = new ProcessingExamples(client);
        await processing.ProcessAsync().WaitAsync(cancelled);
        Assert.Equal(["odd", "odd", "one", "two"], processing.Billed.Order());
        Assert.Equal("Handler at orders/0, 1: no price", Assert.Single(processing.Errors).Trim());

        var fetching = new ProcessingExamples(client);
        await fetching.FetchAsync().WaitAsync(cancelled);
        Assert.Equal(["one", "odd", "two"], fetching.Billed);
    }
}
