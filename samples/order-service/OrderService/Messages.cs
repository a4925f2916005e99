using System.Text.Json.Serialization;
using LightQ.Client;

namespace OrderService;

/// <summary>What a customer asks for.</summary>
public sealed record NewOrder(string Id, string Customer, decimal Total);

/// <summary>What has happened to an order. All of it, in order, is the topic <see cref="Topics.Orders"/>.</summary>
public sealed record OrderEvent(string OrderId, OrderChange Change, string Customer, decimal Total);

[JsonConverter(typeof(JsonStringEnumConverter<OrderChange>))]
public enum OrderChange
{
    Placed,
    Paid,
}

/// <summary>Says that an order should have been paid by now.</summary>
public sealed record Reminder(string OrderId, string Customer);

public static class Topics
{
    public const string Orders = "orders";
    public const string Reminders = "reminders";
    public const string Invoicing = "invoicing"; // A group of the first.
    public const string Mailing = "mailing"; // A group of the second.

    /// <summary>
    /// Kept for ever, since the table of orders is made of it. A caller that tries again within an hour stores nothing
    /// twice.
    /// </summary>
    public static readonly TopicSpec OfOrders = new(Orders)
    {
        DedupWindow = TimeSpan.FromHours(1),
        MaxDeliveries = 5,
        RetryDelay = TimeSpan.FromSeconds(1),
    };

    public static readonly TopicSpec OfReminders = new(Reminders) { DedupWindow = TimeSpan.FromHours(1) };
}
