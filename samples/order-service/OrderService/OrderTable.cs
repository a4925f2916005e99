using LightQ.Client;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace OrderService;

/// <summary>
/// The projection: makes the table of orders from the topic, and is ready once it has caught up. Another
/// <c>OrderTable:Version</c> makes the table anew.
/// </summary>
public sealed class OrderTable(
    IServiceScopeFactory scopes,
    LightQClient client,
    IConfiguration configuration,
    ILogger<OrderTable> logger
) : BackgroundService, IHealthCheck
{
    private readonly int _version = configuration.GetValue("OrderTable:Version", 1);
    private volatile bool _isCurrent;

    public Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context,
        CancellationToken cancellationToken = default
    ) =>
        Task.FromResult(
            _isCurrent ? HealthCheckResult.Healthy() : HealthCheckResult.Unhealthy("The table of orders is being made.")
        );

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        var options = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            StartAfter = await PositionsAsync(stoppingToken),
            OnCaughtUp = () => _isCurrent = true,
        };
        while (true)
        {
            try
            {
                await foreach (
                    Message<OrderEvent> message in client.ConsumeAsync<OrderEvent>(
                        Topics.Orders,
                        options,
                        stoppingToken
                    )
                )
                    await ApplyAsync(message, stoppingToken);
            }
            catch (LightQException e) when (e.Code == ErrorCode.UnknownTopic)
            {
                // A host that has waited for its broker makes its topics at this moment.
                await Task.Delay(TimeSpan.FromSeconds(1), stoppingToken);
            }
        }
    }

    /// <summary>What is read already; nothing where another version has read it.</summary>
    private async Task<IReadOnlyList<MessagePosition>> PositionsAsync(CancellationToken cancellationToken)
    {
        await using AsyncServiceScope scope = scopes.CreateAsyncScope();
        ShopDb db = scope.ServiceProvider.GetRequiredService<ShopDb>();
        await using var transaction = await db.Database.BeginTransactionAsync(cancellationToken);
        if (await db.Positions.AnyAsync(position => position.Version != _version, cancellationToken))
        {
            await db.Positions.ExecuteDeleteAsync(cancellationToken);
            await db.Orders.ExecuteDeleteAsync(cancellationToken);
            logger.LogInformation("The table of orders is made anew for version {Version}.", _version);
        }
        List<ReadPosition> positions = await db.Positions.ToListAsync(cancellationToken);
        await transaction.CommitAsync(cancellationToken);
        return [.. positions.Select(position => MessagePosition.Parse(position.Position))];
    }

    /// <summary>Stores the change and its position in one transaction: neither is there without the other.</summary>
    private async Task ApplyAsync(Message<OrderEvent> message, CancellationToken cancellationToken)
    {
        MessagePosition position = message.Raw.Position;
        await using AsyncServiceScope scope = scopes.CreateAsyncScope();
        ShopDb db = scope.ServiceProvider.GetRequiredService<ShopDb>();
        if (message.TryGetValue(out OrderEvent? order))
            await ApplyAsync(db, order, cancellationToken);
        else
            logger.LogError(message.Error, "The table of orders goes on without the message at {Position}.", position);
        if (await db.Positions.FindAsync([position.Partition], cancellationToken) is { } read)
            (read.Version, read.Position) = (_version, position.ToString());
        else
        {
            db.Positions.Add(
                new ReadPosition
                {
                    Id = position.Partition,
                    Version = _version,
                    Position = position.ToString(),
                }
            );
        }
        await db.SaveChangesAsync(cancellationToken);
    }

    private static async Task ApplyAsync(ShopDb db, OrderEvent order, CancellationToken cancellationToken)
    {
        OrderRow? row = await db.Orders.FindAsync([order.OrderId], cancellationToken);
        if (row is null)
        {
            row = new OrderRow
            {
                Id = order.OrderId,
                Customer = order.Customer,
                Total = order.Total,
            };
            db.Orders.Add(row);
        }
        row.IsPaid |= order.Change == OrderChange.Paid;
    }
}
