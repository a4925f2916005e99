using LightQ.Client;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of docs/use/publishing.md, word for word between the markers.</summary>
internal static class PublishingExamples
{
    public static void RunProgram(string[] args)
    {
        // SHOWN: program
        var builder = WebApplication.CreateBuilder(args);
        builder.Services.AddLightQ(builder.Configuration.GetSection("LightQ"));
        builder.Services.AddLightQTopic(new TopicSpec("orders") { Kind = TopicKind.Durable });
        builder.Services.AddLightQProducer("orders", new JsonMessageSerializer<Order>(ShopJson.Default.Order));
        builder.Services.AddHealthChecks().AddLightQ();

        var app = builder.Build();
        app.MapPost("/orders", async (Order order, IProducer<Order> orders, CancellationToken aborted) =>
            Results.Accepted(value: await orders.PublishAsync(order, key: order.Id, cancellationToken: aborted)));
        app.MapHealthChecks("/health");
        app.Run();
        // SHOWN: end
    }

    public static void RegisterKeyed(WebApplicationBuilder builder)
    {
        // SHOWN: keyed registration
        builder.Services.AddSingleton<IMessageSerializer<Order>>(new JsonMessageSerializer<Order>(ShopJson.Default.Order));
        builder.Services.AddKeyedLightQProducer<Order>("sales", "orders");
        builder.Services.AddKeyedLightQProducer<Order>("returns", "returns");
        // SHOWN: end
    }

    public static void MapKeyed(WebApplication app)
    {
        // SHOWN: keyed endpoint
        app.MapPost("/returns", ([FromKeyedServices("returns")] IProducer<Order> returns, Order order) =>
            returns.PublishAsync(order));
        // SHOWN: end
    }

    public static void RegisterNamed(WebApplicationBuilder builder)
    {
        var json = new JsonMessageSerializer<Order>(ShopJson.Default.Order);
        // SHOWN: named
        builder.Services.AddLightQProducer("orders", json, new() { Name = $"checkout-{Environment.MachineName}" });
        // SHOWN: end
    }

    public static async Task<IResult> PublishInTimeAsync(Order order, IProducer<Order> orders, CancellationToken aborted)
    {
        // SHOWN: time-out
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(aborted);
        patience.CancelAfter(TimeSpan.FromSeconds(5));
        try
        {
            PublishAck ack = await orders.PublishAsync(order, key: order.Id, cancellationToken: patience.Token);
            return Results.Ok(ack.Offset);
        }
        catch (OperationCanceledException)
        {
            return Results.StatusCode(504);                 // stored, or will be, or not: nobody knows yet
        }
        catch (LightQException e) when (e.Code != ErrorCode.OutcomeUnknown && e.IsTransient)
        {
            return Results.StatusCode(503);                 // not stored: try again later
        }
        // SHOWN: end
    }
}
