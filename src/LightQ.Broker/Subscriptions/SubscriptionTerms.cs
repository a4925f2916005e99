using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Subscriptions;

/// <summary>What the opening of a subscription tells its client.</summary>
internal static class SubscriptionTerms
{
    /// <summary>What the client is told.</summary>
    public static SubscribedFrame Answer(Partition partition, Subscription subscription) =>
        new(
            partition.Topic.Id,
            partition.Topic.Settings.Partitions,
            partition.Log.Incarnation,
            partition.Log.Epoch,
            subscription.FirstOffset,
            partition.Log.StartOffset,
            partition.Log.EndOffset,
            subscription is ExplicitMember ? Of(partition.Topic.Settings.Delivery) : null
        );

    private static RedeliveryTerms Of(DeliverySettings settings) =>
        new(
            (uint)settings.MaxDeliveries,
            (uint)settings.RetryDelay.TotalMilliseconds,
            (uint)settings.MaxRetryDelay.TotalMilliseconds
        );
}
