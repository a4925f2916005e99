namespace LightQ.Client.Administration;

/// <summary>A member of a consumer group on one partition.</summary>
/// <param name="ConnectionId">
/// The member's connection, as <see cref="StatsClient.ListConnectionsAsync"/> lists it.
/// </param>
/// <param name="Stream">The member's stream on that connection.</param>
/// <param name="InFlight">Messages that the member holds.</param>
/// <param name="MaxInFlight">How many messages the member may hold; 0 for no limit.</param>
/// <param name="CreditBytes">Bytes that the broker may still send to the member.</param>
/// <param name="IsAssigned">
/// Whether the partition belongs to the member; always true in a topic with one partition, which all members share.
/// </param>
public sealed record GroupMemberInfo(
    long ConnectionId,
    long Stream,
    long InFlight,
    int MaxInFlight,
    long CreditBytes,
    bool IsAssigned
);
