using LightQ.Client;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LightQ.Samples;

/// <summary>
/// A worker service: client and processor from dependency injection, begun and ended by the host. See
/// docs/use/hosting.md.
/// </summary>
internal static class HostingSample
{
    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(new TopicSpec("orders") { Kind = TopicKind.Durable });
        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.Logging.ClearProviders();
        builder.Services.AddLightQ(client.Options.ToString());
        builder.Services.AddSingleton<Ledger>();
        builder.Services.AddLightQProcessor<Billing, Order>(
            "orders",
            "billing",
            new JsonMessageSerializer<Order>(OrderJson.Default.Order)
        );
        builder.Services.AddHealthChecks().AddLightQ();
        using IHost host = builder.Build();
        await host.StartAsync();

        await using Producer<Order> producer = await client.CreateProducerAsync(
            "orders",
            new JsonMessageSerializer<Order>(OrderJson.Default.Order)
        );
        await producer.PublishAsync(new Order("42", 9.99m));
        Order billed = await host.Services.GetRequiredService<Ledger>().First.WaitAsync(TimeSpan.FromSeconds(30));
        Console.WriteLine($"billed {billed.Id}: {billed.Price}");
        HealthReport health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        Console.WriteLine($"health: {health.Status}");
        await host.StopAsync();
    }

    internal sealed class Ledger
    {
        private readonly TaskCompletionSource<Order> _first = new();

        public Task<Order> First => _first.Task;

        public void Add(Order order) => _first.TrySetResult(order);
    }

    internal sealed class Billing(Ledger ledger) : IMessageHandler<Order>
    {
        public Task HandleAsync(Order order, ProcessMessageEventArgs args)
        {
            ledger.Add(order);
            return Task.CompletedTask;
        }
    }
}
