namespace LightQ.Client.Administration;

/// <summary>An open subscription as the broker reports it.</summary>
/// <param name="ConnectionId">The connection it belongs to.</param>
/// <param name="Stream">Its stream id on that connection.</param>
/// <param name="Topic">The topic's name.</param>
/// <param name="Group">The group; empty without one.</param>
/// <param name="NextOffset">The next offset that will be sent.</param>
/// <param name="Lag">Messages appended and not yet sent to it, or to its group.</param>
/// <param name="CreditBytes">Credit left; may be below zero.</param>
/// <param name="Partition">The partition.</param>
/// <param name="SlowPolicy">
/// What happens when it is slower than the topic; <see cref="SlowPolicy.Block"/> for a member of a group.
/// </param>
/// <param name="Drops">Messages that it has lost because of that policy.</param>
/// <param name="BacklogBytes">
/// Bytes of its backlog that the broker keeps outside the ring, in memory or in temporary files.
/// </param>
public sealed record SubscriptionInfo(
    long ConnectionId,
    long Stream,
    string Topic,
    string Group,
    long NextOffset,
    long Lag,
    long CreditBytes,
    int Partition,
    SlowPolicy SlowPolicy,
    long Drops,
    long BacklogBytes
);
