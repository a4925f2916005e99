namespace LightQ.Broker.Subscriptions;

/// <summary>What <see cref="Subscription.TryTake"/> found.</summary>
public enum DeliveryResult
{
    /// <summary>Nothing to send now; the subscription schedules itself when there is.</summary>
    Nothing,

    /// <summary>A run to send; <see cref="Subscription.Sent"/> must follow.</summary>
    Run,

    /// <summary>A gap to report.</summary>
    Gap,
}
