using LightQ.Client;
using Microsoft.EntityFrameworkCore;

namespace OrderService;

/// <summary>Reminders: a message that is delivered later, unless it is cancelled before.</summary>
public sealed class Reminders(
    IProducer<Reminder> producer,
    LightQClient client,
    ShopDb db,
    IConfiguration configuration
)
{
    /// <summary>Called again for the same order, it leaves everything as it is.</summary>
    public async Task ScheduleAsync(OrderEvent order, CancellationToken cancellationToken)
    {
        TimeSpan delay = configuration.GetValue("Reminders:After", TimeSpan.FromDays(1));
        PublishAck ack = await producer.PublishAsync(
            new Reminder(order.OrderId, order.Customer),
            options: new PublishOptions { Delay = delay, MessageId = order.OrderId },
            cancellationToken: cancellationToken
        );
        if (await db.Reminders.AnyAsync(reminder => reminder.Id == order.OrderId, cancellationToken))
            return;
        db.Reminders.Add(new PendingReminder { Id = order.OrderId, Handle = ack.Position.ToString() });
        await db.SaveChangesAsync(cancellationToken);
    }

    public async Task CancelAsync(string orderId, CancellationToken cancellationToken)
    {
        if (await db.Reminders.FindAsync([orderId], cancellationToken) is not { } reminder)
            return;
        // False would say that it was sent meanwhile: then there is nothing to cancel any more.
        await client.Messages.CancelScheduledAsync(
            Topics.Reminders,
            MessagePosition.Parse(reminder.Handle),
            cancellationToken
        );
        await db.Reminders.Where(r => r.Id == orderId).ExecuteDeleteAsync(cancellationToken);
    }
}

/// <summary>Where mail goes out; a test has its own.</summary>
public interface IMailer
{
    Task SendAsync(string to, string text, CancellationToken cancellationToken);
}

public sealed class LogMailer(ILogger<LogMailer> logger) : IMailer
{
    public Task SendAsync(string to, string text, CancellationToken cancellationToken)
    {
        logger.LogInformation("To {Customer}: {Text}", to, text);
        return Task.CompletedTask;
    }
}

/// <summary>The worker behind reminders that are due.</summary>
public sealed class Mailing(IMailer mailer, ShopDb db) : IMessageHandler<Reminder>
{
    public async Task HandleAsync(Reminder reminder, ProcessMessageEventArgs args)
    {
        await mailer.SendAsync(reminder.Customer, $"Please pay your order {reminder.OrderId}.", args.CancellationToken);
        await db.Reminders.Where(r => r.Id == reminder.OrderId).ExecuteDeleteAsync(args.CancellationToken);
    }
}
