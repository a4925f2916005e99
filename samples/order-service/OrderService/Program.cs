using LightQ.Client;
using Microsoft.EntityFrameworkCore;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using OrderService;

WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
IServiceCollection services = builder.Services;

services.AddDbContext<ShopDb>(
    (provider, db) => db.UseSqlite(provider.GetRequiredService<IConfiguration>().GetConnectionString("Shop"))
);

services.AddLightQ(builder.Configuration.GetSection("LightQ"));
services.AddLightQTopic(Topics.OfOrders).AddLightQTopic(Topics.OfReminders);
services.AddLightQProducer<OrderEvent>(Topics.Orders).AddLightQProducer<Reminder>(Topics.Reminders);
services.AddLightQProcessor<Invoicing, OrderEvent>(Topics.Orders, Topics.Invoicing, options: Invoicing.Options);
services.AddLightQProcessor<Mailing, Reminder>(Topics.Reminders, Topics.Mailing);

services.AddScoped<Reminders>().AddSingleton<IMailer, LogMailer>();
services.AddSingleton<LiveOrders>().AddSingleton<OrderTable>();
services.AddHostedService(provider => provider.GetRequiredService<OrderTable>());

// "/ready" runs all of them, "/live" none: a broker that is down takes replicas out of service, and kills none.
services.AddHealthChecks().AddLightQ().AddCheck<OrderTable>("order-table");

bool isExported = builder.Configuration["OTEL_EXPORTER_OTLP_ENDPOINT"] is not null;
services
    .AddOpenTelemetry()
    .WithTracing(traces =>
    {
        traces.AddAspNetCoreInstrumentation().AddLightQInstrumentation();
        if (isExported)
            traces.AddOtlpExporter();
    })
    .WithMetrics(metrics =>
    {
        metrics.AddAspNetCoreInstrumentation().AddLightQInstrumentation();
        if (isExported)
            metrics.AddOtlpExporter();
    });

WebApplication app = builder.Build();
await using (AsyncServiceScope scope = app.Services.CreateAsyncScope())
    await scope.ServiceProvider.GetRequiredService<ShopDb>().Database.EnsureCreatedAsync();

app.MapPost("/orders", PlaceAsync);
app.MapPost("/orders/{id}/payment", PayAsync);
app.MapGet(
    "/orders/{id}",
    async (string id, ShopDb db, CancellationToken aborted) =>
        await db.Orders.FindAsync([id], aborted) is { } order ? Results.Ok(order) : Results.NotFound()
);
app.MapGet(
    "/orders/live",
    (HttpRequest request, LiveOrders live, CancellationToken aborted) =>
        TypedResults.ServerSentEvents(live.ReadAsync(request.Headers["Last-Event-ID"], aborted))
);
app.MapHealthChecks("/live", new() { Predicate = _ => false });
app.MapHealthChecks("/ready");
await app.RunAsync();

// The caller chooses the id, so it may call again when it has not got an answer: both messages are stored once.
static async Task<IResult> PlaceAsync(
    NewOrder order,
    IProducer<OrderEvent> orders,
    Reminders reminders,
    CancellationToken aborted
)
{
    var placed = new OrderEvent(order.Id, OrderChange.Placed, order.Customer, order.Total);
    await orders.PublishAsync(
        placed,
        key: order.Id,
        options: new() { MessageId = order.Id },
        cancellationToken: aborted
    );
    await reminders.ScheduleAsync(placed, aborted);
    return Results.Accepted($"/orders/{order.Id}");
}

static async Task<IResult> PayAsync(
    string id,
    IProducer<OrderEvent> orders,
    Reminders reminders,
    ShopDb db,
    CancellationToken aborted
)
{
    if (await db.Orders.FindAsync([id], aborted) is not { } order)
        return Results.NotFound();
    var paid = new OrderEvent(id, OrderChange.Paid, order.Customer, order.Total);
    await orders.PublishAsync(paid, key: id, options: new() { MessageId = $"{id} paid" }, cancellationToken: aborted);
    await reminders.CancelAsync(id, aborted);
    return Results.Accepted($"/orders/{id}");
}
