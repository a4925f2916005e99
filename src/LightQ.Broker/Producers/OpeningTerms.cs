using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Producers;

/// <summary>What the opening of a producer stream promises.</summary>
internal static class OpeningTerms
{
    /// <summary>The level that acks wait for: the one asked for, or the next higher one that the log has.</summary>
    /// <exception cref="BrokerException">The log does not reach it.</exception>
    public static Durability Level(Partition partition, Durability asked)
    {
        Topic topic = partition.Topic;
        Durability ack = asked == Durability.Default ? topic.Settings.AckLevel : asked;
        ack = ack < partition.Log.MinDurability ? partition.Log.MinDurability : ack;
        if (ack <= partition.Log.MaxDurability)
            return ack;
        string what =
            topic.Settings.Kind == TopicKind.Transient
                ? "is transient: it acknowledges at memory"
                : "has no replicas: it acknowledges at fsync at most";
        throw new BrokerException(ErrorCode.NotSupported, $"The topic '{topic.Name}' {what}, never at {ack}.");
    }

    /// <summary>What the client is told.</summary>
    public static ProducerOpenedFrame Answer(
        Partition partition,
        ulong producerId,
        uint epoch,
        ProducerState? state,
        Durability ack,
        int window
    ) =>
        new(
            partition.Topic.Id,
            partition.Index,
            partition.Topic.Settings.Partitions,
            KeyRouting.Version,
            partition.Log.Incarnation,
            partition.Log.Epoch,
            producerId,
            epoch,
            state?.NextSequence ?? 0,
            (uint)window,
            (uint)partition.MaxBatchBytes,
            ack,
            state is null ? 0u : ProtocolLimits.UnacknowledgedBatches,
            partition.Delays is null ? 0 : (ulong)ProtocolLimits.LongestDelay.TotalMicroseconds
        );
}
