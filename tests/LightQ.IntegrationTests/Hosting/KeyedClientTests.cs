using LightQ.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>A host with two brokers: each has its own topics, producers, processors and health.</summary>
public sealed class KeyedClientTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task What_is_registered_for_a_client_uses_its_broker()
    {
        await using TestServer queue = await TestServer.StartAsync();
        await using TestServer audit = await TestServer.StartAsync();
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection([
            new("ConnectionStrings:queue", queue.ConnectionString),
            new("ConnectionStrings:audit", audit.ConnectionString),
        ]);
        builder.AddLightQClient("queue").AddKeyedLightQClient("audit");
        builder.Services.AddHealthChecks().AddLightQ().AddLightQ(clientKey: "audit");
        builder
            .Services.AddLightQTopic(new TopicSpec("orders"))
            .AddLightQProducer("orders", MessageSerializer.Text)
            .AddLightQTopic(new TopicSpec("entries"), clientKey: "audit")
            .AddKeyedLightQProducer("audit", "entries", MessageSerializer.Text, clientKey: "audit")
            .AddSingleton<Entries>()
            .AddLightQProcessor<Entries, string>("entries", "readers", MessageSerializer.Text, clientKey: "audit");
        using IHost host = builder.Build();
        await host.StartAsync(Cancel);

        await host.Services.GetRequiredService<IProducer<string>>().PublishAsync("order", cancellationToken: Cancel);
        await host
            .Services.GetRequiredKeyedService<IProducer<string>>("audit")
            .PublishAsync("entry", cancellationToken: Cancel);

        Assert.Equal("entry", await host.Services.GetRequiredService<Entries>().First.WaitAsync(Patience, Cancel));
        Assert.Equal(["orders"], queue.Broker.Topics.Select(topic => topic.Name));
        Assert.Equal(["entries"], audit.Broker.Topics.Select(topic => topic.Name));
        Assert.Equal(Broker.Topics.TopicKind.Durable, queue.Broker.GetTopic("orders").Settings.Kind);
        Assert.Equal((HealthStatus.Healthy, HealthStatus.Healthy), await HealthAsync(host));

        await audit.RestartAsync(); // On other ports.
        await Eventually.TrueAsync(
            async () => await HealthAsync(host) == (HealthStatus.Healthy, HealthStatus.Unhealthy),
            Patience,
            () => "the broker that is gone is not told from the other"
        );
        await host.StopAsync(Cancel);
    }

    private static async Task<(HealthStatus Queue, HealthStatus Audit)> HealthAsync(IHost host)
    {
        HealthReport report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Cancel);
        return (report.Entries["lightq"].Status, report.Entries["audit"].Status);
    }

    private sealed class Entries : IMessageHandler<string>
    {
        private readonly TaskCompletionSource<string> _first = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<string> First => _first.Task;

        public Task HandleAsync(string value, ProcessMessageEventArgs args)
        {
            _first.TrySetResult(value);
            return Task.CompletedTask;
        }
    }
}
