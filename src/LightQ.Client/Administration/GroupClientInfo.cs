namespace LightQ.Client.Administration;

/// <summary>A client that is a member of a consumer group, with one or several subscriptions.</summary>
/// <param name="ConnectionId">
/// The client's connection, as <see cref="StatsClient.ListConnectionsAsync"/> lists it.
/// </param>
/// <param name="ClientName">
/// The client's name for itself; empty for a caller without the right to manage the topic.
/// </param>
/// <param name="RemoteAddress">
/// Address and port of the peer; empty for a caller without the right to manage the topic.
/// </param>
/// <param name="MembersCount">How many subscriptions the client has in the group.</param>
/// <param name="Partitions">
/// The partitions that belong to the client. All clients share the partition of a topic that has only one.
/// </param>
/// <param name="InFlight">Messages that the client holds.</param>
public sealed record GroupClientInfo(
    long ConnectionId,
    string ClientName,
    string RemoteAddress,
    int MembersCount,
    IReadOnlyList<int> Partitions,
    long InFlight
);
