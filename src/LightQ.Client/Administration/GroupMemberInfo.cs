namespace LightQ.Client.Administration;

/// <summary>A member of a consumer group on one partition.</summary>
/// <param name="ConnectionId">Its connection, as <see cref="StatsClient.ListConnectionsAsync"/> has it.</param>
/// <param name="Stream">Its stream there.</param>
/// <param name="InFlight">Messages it holds.</param>
/// <param name="MaxInFlight">How many it may hold; 0 for no limit.</param>
/// <param name="CreditBytes">Bytes it may still be sent.</param>
/// <param name="IsAssigned">Whether the partition is its; of a topic with one partition it is everyone's.</param>
public sealed record GroupMemberInfo(
    long ConnectionId,
    long Stream,
    long InFlight,
    int MaxInFlight,
    long CreditBytes,
    bool IsAssigned
);
