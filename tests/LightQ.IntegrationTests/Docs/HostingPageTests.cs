using LightQ.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of docs/use/hosting.md is what these tests compile and run.</summary>
public sealed class HostingPageTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public void The_examples_are_those_of_the_page_word_for_word() =>
        Assert.Equal(
            Snippets.Between(SourceTree.Read("tests/LightQ.IntegrationTests/Docs/HostingExamples.cs"), "// SHOWN: "),
            Document.Read("docs/use/hosting.md").Blocks("csharp").Select(Snippets.WithoutUsings)
        );

    [Fact]
    public async Task A_host_starts_processes_answers_for_its_health_and_stops_as_shown()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var publishing = new LightQClient(server.ConnectionString);
        await publishing.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancel);
        await using Producer<Order> producer = await publishing.CreateProducerAsync(
            "orders",
            new JsonMessageSerializer<Order>(ShopJson.Default.Order),
            cancellationToken: Cancel
        );
        var book = new Ledger.Book();
        using (IHost host = Build(server.ConnectionString, book))
        {
            await host.StartAsync(Cancel);
            for (int i = 0; i < 3; i++)
                await producer.PublishAsync(new Order($"{i}", i), cancellationToken: Cancel);
            // One for each message, and one that was made before any came.
            await Eventually.TrueAsync(
                () => book.Closed.Count == 4,
                TimeSpan.FromSeconds(30),
                () => $"{book.Entries.Count} entries, {book.Closed.Count} ledgers closed"
            );
            HealthReport report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Cancel);
            Assert.Equal(HealthStatus.Healthy, report.Entries["lightq"].Status);
            await host.StopAsync(Cancel);
            await producer.PublishAsync(new Order("late", 1), cancellationToken: Cancel);
        }

        Assert.Equal(["0", "1", "2"], book.Entries.Select(e => e.Order.Id).Order());
        Assert.Equal(3, book.Entries.Select(e => e.By).Distinct().Count());
        using IHost next = Build(server.ConnectionString, book);
        await next.StartAsync(Cancel);
        await Eventually.TrueAsync(
            () => book.Entries.Any(e => e.Order.Id == "late"),
            TimeSpan.FromSeconds(30),
            () => "what came while no host ran was lost"
        );
        await next.StopAsync(Cancel);
        Assert.Equal(4, book.Entries.Count);
    }

    [Fact]
    public async Task A_host_whose_topic_is_unknown_does_not_start()
    {
        await using TestServer server = await TestServer.StartAsync();
        using IHost host = Build(server.ConnectionString, new Ledger.Book());
        Assert.Equal(
            ErrorCode.UnknownTopic,
            (await Assert.ThrowsAsync<LightQException>(() => host.StartAsync(Cancel))).Code
        );
    }

    [Fact]
    public async Task A_host_sees_to_its_topics_before_its_processors_start()
    {
        await using TestServer server = await TestServer.StartAsync();
        var book = new Ledger.Book();
        using IHost host = Build(
            server.ConnectionString,
            book,
            services => services.AddLightQTopic(new TopicSpec("orders") { Kind = TopicKind.Durable, Partitions = 2 })
        );
        await host.StartAsync(Cancel);
        await host.StopAsync(Cancel);
        Assert.Equal(2, server.Broker.GetTopic("orders").Partitions.Length);

        using IHost other = Build(
            server.ConnectionString,
            book,
            services => services.AddLightQTopic(new TopicSpec("orders") { Kind = TopicKind.Transient })
        );
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() => other.StartAsync(Cancel));
        Assert.Equal(ErrorCode.TopicExists, refused.Code);
        Assert.Contains("kind is durable, not transient", refused.Message, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task Handlers_of_messages_and_an_error_handler_are_called_and_several_processors_run()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var publishing = new LightQClient(server.ConnectionString);
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        var errors = new TaskCompletionSource<Exception>(TaskCreationOptions.RunContinuationsAsynchronously);
        var handled = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        builder.Services.AddSingleton(handled).AddLightQ(server.ConnectionString);
        foreach (string topic in (string[])["orders", "returns"])
        {
            await publishing.Topics.CreateAsync(new TopicSpec(topic) { Kind = TopicKind.Durable }, Cancel);
            builder.Services.AddLightQProcessor<Reading>(
                topic,
                "reading",
                configure: (_, processor) =>
                    processor.ProcessErrorAsync += args =>
                    {
                        errors.TrySetResult(args.Exception);
                        return Task.CompletedTask;
                    }
            );
        }
        using IHost host = builder.Build();
        await host.StartAsync(Cancel);
        await using Producer orders = await publishing.CreateProducerAsync("orders", cancellationToken: Cancel);
        await using Producer returns = await publishing.CreateProducerAsync("returns", cancellationToken: Cancel);

        await orders.PublishAsync("odd"u8, cancellationToken: Cancel);
        await returns.PublishAsync("fine"u8, cancellationToken: Cancel);

        Assert.Equal("odd", (await errors.Task.WaitAsync(Cancel)).Message);
        Assert.Equal("fine", await handled.Task.WaitAsync(Cancel));
        await host.StopAsync(Cancel);
    }

    private static IHost Build(string connectionString, Ledger.Book book, Action<IServiceCollection>? configure = null)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection([
            KeyValuePair.Create("LightQ:ConnectionString", (string?)connectionString),
        ]);
        builder.Services.AddSingleton(book).AddScoped<Ledger>();
        HostingExamples.Register(builder);
        configure?.Invoke(builder.Services);
        return builder.Build();
    }

    private sealed class Reading(TaskCompletionSource<string> handled) : IMessageHandler
    {
        public Task HandleAsync(ProcessMessageEventArgs args)
        {
            string text = args.Message.GetText();
            if (text == "odd")
                throw new FormatException(text);
            handled.TrySetResult(text);
            return Task.CompletedTask;
        }
    }
}
