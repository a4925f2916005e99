namespace LightQ.Client;

/// <summary>
/// A subscription to a partition is open: the consumer gets what is published to the partition from now on.
/// </summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="NextOffset">Offset of the first message that will be delivered.</param>
/// <param name="StartOffset">Offset of the oldest message that the partition holds.</param>
/// <param name="EndOffset">The offset after that of the newest message.</param>
/// <param name="IsResumed">Whether this is a resumption after a reconnect.</param>
/// <param name="Partition">The partition.</param>
/// <param name="PartitionCount">
/// How many partitions the topic has. For a consumer of all of them, each partition is reported.
/// </param>
public sealed record SubscriptionStarted(
    string Topic,
    long NextOffset,
    long StartOffset,
    long EndOffset,
    bool IsResumed,
    int Partition,
    int PartitionCount
);
