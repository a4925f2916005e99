using System.Globalization;
using System.Net;
using System.Net.Http.Json;
using LightQ.Client;
using LightQ.Testing;
using LightQ.TestShop;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// Tests of a web application, each with one of the ways to give it another broker than its settings file names: they
/// work with the test's broker, and never with that of the file.
/// </summary>
public sealed class WebTestTests(WebTestTests.Brokers brokers) : IClassFixture<WebTestTests.Brokers>
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("UseSetting")]
    [InlineData("UseSetting of the whole section")]
    [InlineData("ConfigureAppConfiguration")]
    [InlineData("ConfigureAppConfiguration with a value that is taken away")]
    [InlineData("ConfigureLightQ")]
    [InlineData("a client of its own")]
    [InlineData("UseLightQ")]
    public async Task What_a_test_names_takes_the_place_of_what_the_file_names(string way)
    {
        await using WebApplicationFactory<Orders> shop = Shop(
            way == "UseSetting of the whole section"
                ? $$"""{ "LightQ": "{{brokers.Real.ConnectionString}}" }"""
                : $$"""{ "LightQ": { "ConnectionString": "{{brokers.Real.ConnectionString}}", "Token": "" } }""",
            web => Name(way, web)
        );
        await PublishesToTheTestAsync(shop, way);
    }

    [Theory]
    [InlineData("name")]
    [InlineData("text")]
    [InlineData("key")]
    [InlineData("section")]
    public async Task However_the_client_was_registered_one_line_gives_it_the_broker_and_the_clock(string registers)
    {
        await using WebApplicationFactory<Orders> shop = Shop(
            $$"""
            {
              "ConnectionStrings": { "queue": "{{brokers.Real.ConnectionString}}" },
              "LightQ": { "ConnectionString": "{{brokers.Real.ConnectionString}}", "User": "shop", "Password": "x" },
              "Shop": { "Registers": "{{registers}}" }
            }
            """,
            web => web.UseLightQ(brokers.Test)
        );
        await PublishesToTheTestAsync(shop, registers);

        brokers.Test.Time.Advance(TimeSpan.FromDays(1));
        using HttpClient http = shop.CreateClient();
        string now = (await http.GetStringAsync("/now", Cancel)).Trim('"');
        Assert.True(
            DateTimeOffset.Parse(now, CultureInfo.InvariantCulture) > TimeProvider.System.GetUtcNow().AddHours(23)
        );
    }

    [Fact]
    public async Task Settings_that_name_two_brokers_do_not_matter_where_one_line_names_it()
    {
        await using WebApplicationFactory<Orders> shop = Shop(
            $$"""{ "LightQ": { "ConnectionString": "{{brokers.Real.ConnectionString}}", "Host": "prod" } }""",
            web => web.UseLightQ(brokers.Test)
        );
        await PublishesToTheTestAsync(shop, "two");
    }

    [Fact]
    public void With_several_brokers_services_have_the_clock_of_the_one_without_a_key()
    {
        foreach (bool isKeyLast in new[] { true, false })
        {
            var services = new ServiceCollection();
            if (isKeyLast)
                services.UseLightQ(brokers.Test).UseLightQ(brokers.Real, clientKey: "audit");
            else
                services.UseLightQ(brokers.Real, clientKey: "audit").UseLightQ(brokers.Test);
            using ServiceProvider provider = services.BuildServiceProvider();
            Assert.Same(brokers.Test.Time, provider.GetRequiredService<TimeProvider>());
        }
    }

    [Fact]
    public async Task A_live_stream_goes_on_behind_what_a_browser_saw_and_ends_with_its_host()
    {
        await using WebApplicationFactory<Orders> shop = Shop("{}", web => web.UseLightQ(brokers.Test));
        using HttpClient http = shop.CreateClient();
        using HttpResponseMessage first = await http.PostAsync("/orders/seen", null, Cancel);
        PublishAck seen = (await first.Content.ReadFromJsonAsync<PublishAck>(Cancel))!;
        using (await http.PostAsync("/orders/missed", null, Cancel))
        {
            // Stored.
        }
        using var request = new HttpRequestMessage(HttpMethod.Get, "/orders/live");
        request.Headers.Add("Last-Event-ID", seen.Position.ToString());
        using HttpResponseMessage live = await http.SendAsync(
            request,
            HttpCompletionOption.ResponseHeadersRead,
            Cancel
        );
        Assert.Equal("text/event-stream", live.Content.Headers.ContentType?.MediaType);
        using var reader = new StreamReader(await live.Content.ReadAsStreamAsync(Cancel));
        Assert.Equal(
            ["event: order", "data: missed", $"id: {seen.Partition}/{seen.Offset + 1}"],
            [await reader.ReadLineAsync(Cancel), await reader.ReadLineAsync(Cancel), await reader.ReadLineAsync(Cancel)]
        );
        shop.Services.GetRequiredService<IHostApplicationLifetime>().StopApplication();
        Assert.Equal("", (await reader.ReadToEndAsync(Cancel).WaitAsync(TimeSpan.FromSeconds(30), Cancel)).Trim());
    }

    [Fact]
    public async Task A_name_of_the_configuration_is_read_when_the_client_is_made()
    {
        await using WebApplicationFactory<Orders> shop = Shop(
            $$"""
            {
              "ConnectionStrings": { "queue": "{{brokers.Real.ConnectionString}}" },
              "Shop": { "Registers": "name" }
            }
            """,
            web => web.ConfigureAppConfiguration((_, c) => Set(c, "ConnectionStrings:queue"))
        );
        await PublishesToTheTestAsync(shop, "by name");
    }

    [Fact]
    public async Task One_line_is_enough_without_any_settings()
    {
        await using WebApplicationFactory<Orders> shop = Shop("{}", web => web.UseLightQ(brokers.Test));
        await PublishesToTheTestAsync(shop, "no settings");
    }

    [Theory]
    [InlineData(
        """{ "LightQ": "lightq://127.0.0.1:1" }""",
        "'LightQ' and 'LightQ:ConnectionString' both name a broker"
    )]
    [InlineData(
        """{ "LightQ": { "Host": "127.0.0.1" } }""",
        "'LightQ:ConnectionString' and 'LightQ:Host' both name a broker"
    )]
    [InlineData("""{ "LightQ": { "Prot": "1" } }""", "'LightQ:Prot' is no setting of a client")]
    public async Task Settings_that_leave_it_open_which_broker_is_meant_fail_the_start(string settings, string said)
    {
        int attempts = 0;
        Exception? failure;
        do
        {
            await using WebApplicationFactory<Orders> shop = Shop(
                settings,
                web => web.ConfigureAppConfiguration((_, c) => Set(c, "LightQ:ConnectionString"))
            );
            failure = Record.Exception(() => shop.CreateClient());
            // The application ends on a thread of its own: now and then the factory finds its services gone before it
            // has heard why.
        } while (failure is ObjectDisposedException && ++attempts < 20);
        var refused = Assert.IsType<OptionsValidationException>(failure);
        Assert.StartsWith(said, refused.Message, StringComparison.Ordinal);
    }

    private void Name(string way, IWebHostBuilder web)
    {
        switch (way)
        {
            case "UseSetting":
                web.UseSetting("LightQ:ConnectionString", brokers.Test.ConnectionString);
                break;
            case "UseSetting of the whole section":
                web.UseSetting("LightQ", brokers.Test.ConnectionString);
                break;
            case "ConfigureAppConfiguration":
                web.ConfigureAppConfiguration((_, c) => Set(c, "LightQ:ConnectionString"));
                break;
            case "ConfigureAppConfiguration with a value that is taken away":
                web.ConfigureAppConfiguration(
                    (_, c) =>
                    {
                        Set(c, "LightQ");
                        c.AddInMemoryCollection([KeyValuePair.Create("LightQ:ConnectionString", (string?)"")]);
                    }
                );
                break;
            case "ConfigureLightQ":
                web.ConfigureServices(services =>
                    services.ConfigureLightQ(
                        (_, options) =>
                            LightQClientOptions.Parse(brokers.Test.ConnectionString) with
                            {
                                ClientName = options.ClientName,
                            }
                    )
                );
                break;
            case "a client of its own":
                web.ConfigureServices(services =>
                    services.RemoveAll<LightQClient>().AddSingleton(_ => brokers.Test.CreateClient())
                );
                break;
            default:
                web.UseLightQ(brokers.Test);
                break;
        }
    }

    private void Set(IConfigurationBuilder configuration, string key) =>
        configuration.AddInMemoryCollection([KeyValuePair.Create(key, (string?)brokers.Test.ConnectionString)]);

    private async Task PublishesToTheTestAsync(WebApplicationFactory<Orders> shop, string id)
    {
        using HttpClient http = shop.CreateClient();
        using HttpResponseMessage taken = await http.PostAsync($"/orders/{Uri.EscapeDataString(id)}", null, Cancel);
        Assert.Equal(HttpStatusCode.OK, taken.StatusCode);
        await Eventually.TrueAsync(
            () => shop.Services.GetRequiredService<Orders>().Billed.Contains(id),
            TimeSpan.FromSeconds(30),
            () => $"the processor has not had {id}"
        );
        Assert.Equal("Healthy", await http.GetStringAsync("/ready", Cancel));
        await using var real = new LightQClient(brokers.Real.ConnectionString);
        Assert.Empty(await real.Topics.ListAsync(Cancel).ToListAsync(Cancel));
    }

    private WebApplicationFactory<Orders> Shop(string settings, Action<IWebHostBuilder> configure)
    {
        string folder = brokers.NewFolder();
        File.WriteAllText(Path.Combine(folder, "appsettings.json"), settings);
        return new WebApplicationFactory<Orders>().WithWebHostBuilder(web => configure(web.UseContentRoot(folder)));
    }

    /// <summary>The broker that the settings files name, and that of the tests.</summary>
    public sealed class Brokers : IAsyncLifetime
    {
        private readonly DirectoryInfo _folders = Directory.CreateTempSubdirectory("lightq-web-");

        public LightQTestBroker Real { get; private set; } = null!;

        public LightQTestBroker Test { get; private set; } = null!;

        public string NewFolder() => _folders.CreateSubdirectory(Guid.NewGuid().ToString("N")).FullName;

        public async ValueTask InitializeAsync()
        {
            Real = await LightQTestBroker.StartAsync();
            Test = await LightQTestBroker.StartAsync();
        }

        public async ValueTask DisposeAsync()
        {
            await Real.DisposeAsync();
            await Test.DisposeAsync();
            _folders.Delete(recursive: true);
        }
    }
}
