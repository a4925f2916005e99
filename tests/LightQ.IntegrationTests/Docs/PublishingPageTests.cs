using System.Net;
using System.Net.Http.Json;
using System.Text;
using LightQ.Client;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of docs/use/publishing.md is what these tests compile and run.</summary>
public sealed class PublishingPageTests
{
    private const string Address = "LightQ:ConnectionString";

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public void The_examples_are_those_of_the_page_word_for_word()
    {
        string[] shown = [.. Document.Read("docs/use/publishing.md").Blocks("csharp").Select(Snippets.WithoutUsings)];
        string[] compiled = [.. Shown("PublishingExamples.cs")];
        // The second block is the contract, which the page on serialization shows, too.
        Assert.Equal([compiled[0], Shown("SerializationExamples.cs").First(), .. compiled[1..]], shown);
    }

    [Fact]
    public async Task The_program_publishes_as_shown_with_the_settings_shown_but_for_its_address()
    {
        await using TestServer server = await TestServer.StartAsync();
        string url = server.ConnectionString;
        string json = Assert.Single(Document.Read("docs/use/publishing.md").Blocks("json"));
        using var stream = new MemoryStream(Encoding.UTF8.GetBytes(json));
        IConfiguration settings = new ConfigurationBuilder().AddJsonStream(stream).Build();
        string[] args =
        [
            .. from setting in settings.AsEnumerable()
            where setting.Value is not null && setting.Key != Address
            select $"--{setting.Key}={setting.Value}",
            $"--{Address}={url}",
            "--urls=http://127.0.0.1:0",
            "--Logging:LogLevel:Default=None",
        ];
        using var programs = new StartedPrograms(configuration => configuration[Address] == url);
        Task program = Task.Run(() => PublishingExamples.RunProgram(args), Cancel);
        await Task.WhenAny(program, programs.Started).Unwrap(); // What it throws, if it does not start.
        IHost app = await programs.Started;
        using var http = new HttpClient { BaseAddress = AddressOf(app.Services) };

        using HttpResponseMessage order = await http.PostAsJsonAsync("/orders", new Order("42", 9.99m), Cancel);
        Assert.Equal(HttpStatusCode.Accepted, order.StatusCode);
        Assert.Equal("Healthy", await http.GetStringAsync("/health", Cancel));
        Assert.Equal(["42"], await ReadAsync(server, "orders", 1));
        await app.StopAsync(Cancel);
        await program;
    }

    [Fact]
    public async Task A_publish_with_a_limit_of_time_is_answered_as_shown()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", LightQ.Broker.Topics.TopicKind.Durable);
        await using WebApplication app = Build(server, PublishingExamples.RegisterNamed);
        app.MapPost("/patient", PublishingExamples.PublishInTimeAsync);
        using HttpClient http = await StartAsync(app);
        using HttpResponseMessage response = await http.PostAsJsonAsync("/patient", new Order("43", 1m), Cancel);
        Assert.Equal((HttpStatusCode.OK, "0"), (response.StatusCode, await response.Content.ReadAsStringAsync(Cancel)));
        Assert.Equal(["43"], await ReadAsync(server, "orders", 1));
        await app.StopAsync(Cancel);
    }

    [Fact]
    public async Task Producers_with_keys_and_one_with_a_name_publish_as_shown()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", LightQ.Broker.Topics.TopicKind.Durable);
        await server.CreateTopicAsync("returns", LightQ.Broker.Topics.TopicKind.Durable);
        await using WebApplication app = Build(
            server,
            builder =>
            {
                PublishingExamples.RegisterKeyed(builder);
                PublishingExamples.RegisterNamed(builder);
            }
        );
        PublishingExamples.MapKeyed(app);
        app.MapPost("/patient", PublishingExamples.PublishInTimeAsync);
        using HttpClient http = await StartAsync(app);

        using HttpResponseMessage returned = await http.PostAsJsonAsync("/returns", new Order("back", 1m), Cancel);
        using HttpResponseMessage ordered = await http.PostAsJsonAsync("/patient", new Order("new", 1m), Cancel);
        await app
            .Services.GetRequiredKeyedService<IProducer<Order>>("sales")
            .PublishAsync(new Order("sold", 1m), cancellationToken: Cancel);

        Assert.True(returned.IsSuccessStatusCode && ordered.IsSuccessStatusCode);
        Assert.Equal(["back"], await ReadAsync(server, "returns", 1));
        Assert.Equal(["new", "sold"], await ReadAsync(server, "orders", 2));
        await app.StopAsync(Cancel);
    }

    private static WebApplication Build(TestServer server, Action<WebApplicationBuilder> register)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        builder.Services.AddLightQ(server.ConnectionString);
        register(builder);
        return builder.Build();
    }

    private static async Task<HttpClient> StartAsync(WebApplication app)
    {
        await app.StartAsync(Cancel);
        return new HttpClient { BaseAddress = AddressOf(app.Services) };
    }

    private static IEnumerable<string> Shown(string examples) =>
        Snippets.Between(SourceTree.Read("tests/LightQ.IntegrationTests/Docs/" + examples), "// SHOWN: ");

    private static Uri AddressOf(IServiceProvider services) =>
        new(services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single());

    private static async Task<string[]> ReadAsync(TestServer server, string topic, int count)
    {
        await using var client = new LightQClient(server.ConnectionString);
        var json = new JsonMessageSerializer<Order>(ShopJson.Default.Order);
        return await client
            .ConsumeAsync(topic, json, new() { Start = StartPosition.Earliest })
            .Take(count)
            .Select(m => m.Value.Id)
            .ToArrayAsync(Cancel);
    }
}
