using System.Collections.Concurrent;
using LightQ.Client;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of docs/use/hosting.md, word for word between the markers.</summary>
internal static class HostingExamples
{
    public static void Register(IHostApplicationBuilder builder)
    {
        // SHOWN: registration
        builder.Services.AddLightQ(builder.Configuration.GetSection("LightQ"));
        var json = new JsonMessageSerializer<Order>(ShopJson.Default.Order);
        builder.Services.AddLightQProcessor<Billing, Order>("orders", "billing", json, new() { MaxConcurrency = 8 });
        builder.Services.AddHealthChecks().AddLightQ();
        // SHOWN: end
    }
}

// SHOWN: handler
internal sealed class Billing(Ledger ledger) : IMessageHandler<Order>
{
    public Task HandleAsync(Order order, ProcessMessageEventArgs args) =>
        ledger.AddAsync(order, args.CancellationToken);
}
// SHOWN: end

/// <summary>A processor with options from the configuration.</summary>
internal static class ProcessorExamples
{
    public static void Register(IHostApplicationBuilder builder)
    {
        // SHOWN: options
        IConfigurationSection section = builder.Configuration.GetSection("Orders:Processor");
        builder.Services.AddLightQProcessor<Billing, Order>("orders", "billing");
        builder.Services.ConfigureLightQProcessor("orders", "billing", section);
        // SHOWN: end
    }
}

/// <summary>Two brokers, each with a client of its own.</summary>
internal static class KeyedExamples
{
    public static void Register(IHostApplicationBuilder builder)
    {
        // SHOWN: several
        builder.AddLightQClient("queue").AddKeyedLightQClient("audit");
        builder.Services.AddLightQTopic(new TopicSpec("entries"), clientKey: "audit");
        builder.Services.AddKeyedLightQProducer("audit", "entries", MessageSerializer.Text, clientKey: "audit");
        builder.Services.AddHealthChecks().AddLightQ().AddLightQ(clientKey: "audit");
        // SHOWN: end
    }
}

/// <summary>Two paths for whatever restarts and routes.</summary>
internal static class HealthExamples
{
    public static void Map(WebApplication app)
    {
        // SHOWN: health
        app.MapHealthChecks("/live", new() { Predicate = _ => false });
        app.MapHealthChecks("/ready");
        // SHOWN: end
    }
}

/// <summary>A scoped service of the example: every message gets one of its own.</summary>
internal sealed class Ledger(Ledger.Book book) : IDisposable
{
    public Task AddAsync(Order order, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        book.Entries.Enqueue((order, this));
        return Task.CompletedTask;
    }

    public void Dispose() => book.Closed.Enqueue(this);

    /// <summary>What all ledgers write into.</summary>
    internal sealed class Book
    {
        public ConcurrentQueue<(Order Order, Ledger By)> Entries { get; } = new();

        public ConcurrentQueue<Ledger> Closed { get; } = new();
    }
}
