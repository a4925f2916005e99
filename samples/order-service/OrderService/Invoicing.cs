using LightQ.Client;
using Microsoft.EntityFrameworkCore;

namespace OrderService;

/// <summary>The worker: writes an invoice for each order that is placed.</summary>
public sealed class Invoicing(ShopDb db, ILogger<Invoicing> logger) : IMessageHandler<OrderEvent>
{
    /// <summary>
    /// An order that cannot be invoiced never can: it is a dead letter at once. Whatever else fails is tried again, up
    /// to the topic's number of deliveries.
    /// </summary>
    public static readonly ProcessorOptions Options = new()
    {
        MaxConcurrency = 4,
        Retries = [RetryRule.DeadLetter<OrderRefusedException>()],
    };

    public async Task HandleAsync(OrderEvent order, ProcessMessageEventArgs args)
    {
        if (order.Change != OrderChange.Placed)
            return;
        if (order.Total <= 0)
            throw new OrderRefusedException($"The order {order.OrderId} has a total of {order.Total}.");
        // A message may come twice.
        if (await db.Invoices.AnyAsync(invoice => invoice.Id == order.OrderId, args.CancellationToken))
            return;
        db.Invoices.Add(new Invoice { Id = order.OrderId, Total = order.Total });
        await db.SaveChangesAsync(args.CancellationToken);
        logger.LogInformation("Invoiced {Order}.", order.OrderId);
    }
}

public sealed class OrderRefusedException(string message) : Exception(message);
