using LightQ.Client;
using LightQ.TestShop;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// A web application as a user writes one, for tests that put it into WebApplicationFactory. A setting says which of the
// ways to register a client it takes.
WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
switch (builder.Configuration["Shop:Registers"])
{
    case "name":
        builder.AddLightQClient("queue");
        break;
    case "text":
        builder.Services.AddLightQ("lightq://127.0.0.1:1?control=2", options => options with { User = "shop" });
        break;
    case "key":
        builder.Services.AddKeyedLightQ("main", builder.Configuration.GetSection("LightQ"));
        break;
    default:
        builder.Services.AddLightQ(builder.Configuration.GetSection("LightQ"));
        break;
}
string? key = builder.Configuration["Shop:Registers"] == "key" ? "main" : null;
builder.Services.AddSingleton(TimeProvider.System);
builder.Services.AddSingleton<Orders>();
if (key is null)
    builder.Services.AddSingleton<LiveOrders>();
builder.Services.AddLightQTopic(new TopicSpec("orders"), key);
builder.Services.AddLightQProducer("orders", MessageSerializer.Text, clientKey: key);
builder.Services.AddLightQProcessor<Billing>("orders", "billing", clientKey: key);
builder.Services.AddHealthChecks().AddLightQ(clientKey: key);

WebApplication app = builder.Build();
app.MapHealthChecks("/live", new() { Predicate = _ => false });
app.MapHealthChecks("/ready");
app.MapPost(
    "/orders/{id}",
    async (string id, IProducer<string> orders, CancellationToken aborted) =>
        Results.Ok(await orders.PublishAsync(id, cancellationToken: aborted))
);
if (key is null)
{
    app.MapGet(
        "/orders/live",
        (HttpRequest request, LiveOrders live, CancellationToken aborted) =>
            TypedResults.ServerSentEvents(live.ReadAsync(request.Headers["Last-Event-ID"], aborted))
    );
}
app.MapGet("/now", (TimeProvider time) => time.GetUtcNow());
await app.RunAsync();
