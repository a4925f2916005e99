using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of docs/use/serialization.md is what these tests compile and run.</summary>
public sealed class SerializationPageTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public void The_examples_are_those_of_the_page_word_for_word() =>
        Assert.Equal(
            Snippets.Between(
                SourceTree.Read("tests/LightQ.IntegrationTests/Docs/SerializationExamples.cs"),
                "// SHOWN: "
            ),
            Document.Read("docs/use/serialization.md").Blocks("csharp").Select(Snippets.WithoutUsings)
        );

    [Fact]
    public async Task Values_are_published_and_consumed_as_shown_and_what_is_none_is_told()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders"), Cancel);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel);
        await producer.PublishAsync(
            "{}}"u8,
            headers: new MessageHeaders { { "content-type", "text/odd" } },
            cancellationToken: Cancel
        );
        await producer.PublishAsync("""{"id":"41","price":1}"""u8, cancellationToken: Cancel);

        var examples = new SerializationExamples(client);
        await examples.PublishAndConsumeAsync().WaitAsync(Cancel);

        Assert.Collection(
            examples.Console.ToString().TrimEnd().Split(Environment.NewLine),
            line =>
                Assert.StartsWith(
                    "Message 0 of orders, partition 0, is no Order (text/odd): ",
                    line,
                    StringComparison.Ordinal
                ),
            line => Assert.Equal("1: 41 costs 1", line),
            line => Assert.Equal("2: 42 costs 9.99", line)
        );
    }

    [Fact]
    public async Task A_consumer_finds_the_content_type_by_its_name_and_filters_by_it()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders"), Cancel);
        await using Producer<Order> producer = await client.CreateProducerAsync(
            "orders",
            new JsonMessageSerializer<Order>(ShopJson.Default.Order),
            cancellationToken: Cancel
        );
        await producer.Raw.PublishAsync("plain"u8, cancellationToken: Cancel);
        await producer.PublishAsync(new Order("42", 9.99m), cancellationToken: Cancel);

        var options = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            Filter = MessageFilter.Parse("content-type = 'application/json'"),
        };
        await foreach (Message message in client.ConsumeAsync("orders", options, Cancel))
        {
            Assert.Equal(1, message.Offset);
            Assert.True(message.TryGetHeader("content-type", out ReadOnlySpan<byte> value));
            Assert.True(value.SequenceEqual("application/json"u8));
            break;
        }
    }

    [Fact]
    public async Task A_processor_bills_values_and_gives_up_what_is_none_as_shown()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("given-up") { Kind = TopicKind.Durable }, Cancel);
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, DeadLetterTopic = "given-up" },
            Cancel
        );
        var examples = new SerializationExamples(client);
        await using LightQProcessor processor = client.CreateProcessor(
            "orders",
            "billing",
            new ProcessorOptions { Start = StartPosition.Earliest }
        );
        examples.Process(processor);
        await processor.StartAsync(Cancel);
        await using Producer<Order> producer = await client.CreateProducerAsync(
            "orders",
            new JsonMessageSerializer<Order>(ShopJson.Default.Order),
            cancellationToken: Cancel
        );
        await producer.Raw.PublishAsync("odd"u8, cancellationToken: Cancel);
        await producer.PublishAsync(new Order("42", 9.99m), cancellationToken: Cancel);

        await using var letters = client
            .ConsumeAsync("given-up", new ConsumeOptions { Start = StartPosition.Earliest }, Cancel)
            .GetAsyncEnumerator(Cancel);
        Assert.True(await letters.MoveNextAsync());
        Assert.Equal("odd", letters.Current.GetText());
        await Eventually.TrueAsync(
            () => !examples.Billed.IsEmpty,
            TimeSpan.FromSeconds(30),
            () => "nothing was billed"
        );
        Assert.Equal(new Order("42", 9.99m), Assert.Single(examples.Billed));
    }
}
