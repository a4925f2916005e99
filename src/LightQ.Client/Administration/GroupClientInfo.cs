namespace LightQ.Client.Administration;

/// <summary>A client that is a member of a consumer group, by one subscription or several.</summary>
/// <param name="ConnectionId">Its connection, as <see cref="StatsClient.ListConnectionsAsync"/> has it.</param>
/// <param name="ClientName">What the client calls itself; empty for who has not the right to manage the topic.</param>
/// <param name="RemoteAddress">
/// Address and port of the peer; empty for who has not the right to manage the topic.
/// </param>
/// <param name="MembersCount">Its subscriptions.</param>
/// <param name="Partitions">The partitions that are its; of a topic with one partition that is every client's.</param>
/// <param name="InFlight">Messages it holds.</param>
public sealed record GroupClientInfo(
    long ConnectionId,
    string ClientName,
    string RemoteAddress,
    int MembersCount,
    IReadOnlyList<int> Partitions,
    long InFlight
);
