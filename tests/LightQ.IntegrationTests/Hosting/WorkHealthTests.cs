using System.Net;
using LightQ.Client;
using LightQ.Testing;
using LightQ.TestShop;
using Microsoft.AspNetCore.Mvc.Testing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>Health looks at the work of a host, and not at the connection alone.</summary>
public sealed class WorkHealthTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_processor_whose_topic_is_deleted_or_that_was_stopped_is_in_the_check_with_the_reason()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancel);
        LightQProcessor? returns = null;
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddLightQ("lightq://localhost").UseLightQ(broker);
        builder.Services.AddLightQTopic(new TopicSpec("orders")).AddLightQTopic(new TopicSpec("returns"));
        builder.Services.AddLightQProcessor<Work>("orders", "billing");
        builder.Services.AddLightQProcessor<Work>("returns", "billing", configure: (_, p) => returns = p);
        builder.Services.AddHealthChecks().AddLightQ();
        using IHost host = builder.Build();
        await host.StartAsync(Cancel);
        Assert.Equal(HealthStatus.Healthy, (await HealthOf(host)).Status);

        await returns!.StopAsync(Cancel);
        HealthReportEntry stopped = await HealthOf(host);
        Assert.Equal(HealthStatus.Unhealthy, stopped.Status);
        Assert.Equal(
            "The processor of returns for billing handles nothing: it has not begun, or was stopped",
            stopped.Description
        );
        await returns.StartAsync(Cancel);
        Assert.Equal(HealthStatus.Healthy, (await HealthOf(host)).Status);

        await using LightQClient client = broker.CreateClient();
        await client.Topics.DeleteAsync("orders", Cancel);
        HealthReportEntry health = default;
        await Eventually.TrueAsync(
            async () => (health = await HealthOf(host)).Status == HealthStatus.Unhealthy,
            Patience,
            () => "the check does not notice that the topic is gone"
        );
        Assert.StartsWith(
            "The processor of orders for billing handles nothing: ",
            health.Description,
            StringComparison.Ordinal
        );
        Assert.Contains("delete", health.Description, StringComparison.Ordinal);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task A_broker_that_is_down_takes_a_web_application_out_of_service_and_does_not_have_it_killed()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancel);
        await using var shop = new WebApplicationFactory<Orders>().WithWebHostBuilder(web => web.UseLightQ(broker));
        using HttpClient http = shop.CreateClient();
        Assert.Equal(HttpStatusCode.OK, (await http.GetAsync("/ready", Cancel)).StatusCode);

        await broker.Server.StopAsync();

        Assert.Equal(HttpStatusCode.ServiceUnavailable, (await http.GetAsync("/ready", Cancel)).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await http.GetAsync("/live", Cancel)).StatusCode);
    }

    private static async Task<HealthReportEntry> HealthOf(IHost host) =>
        (await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Cancel)).Entries["lightq"];

    private sealed class Work : IMessageHandler
    {
        public Task HandleAsync(ProcessMessageEventArgs args) => Task.CompletedTask;
    }
}
