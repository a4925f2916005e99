namespace LightQ.Client;

/// <summary>A subscription of a partition stands: what is published to it from now on will come.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="NextOffset">Offset of the first message that will come.</param>
/// <param name="StartOffset">Offset of the oldest message that the partition holds.</param>
/// <param name="EndOffset">One behind the offset of the newest.</param>
/// <param name="IsResumed">Whether this is a resumption after a reconnect.</param>
/// <param name="Partition">The partition.</param>
/// <param name="PartitionCount">How many the topic has: a consumer of all of them is told of each.</param>
public sealed record SubscriptionStarted(
    string Topic,
    long NextOffset,
    long StartOffset,
    long EndOffset,
    bool IsResumed,
    int Partition,
    int PartitionCount
);
