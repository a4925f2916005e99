using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;
using LightQ.Server.Connections;
using LightQ.Server.Messages;

namespace LightQ.Server.Control;

/// <summary>
/// Who is connected: connections of the data plane, and calls that carry messages, which are numbered among them.
/// </summary>
internal sealed class ClientDirectory(ConnectionListener listener, MessageCalls calls)
{
    /// <summary>How many there are.</summary>
    public int Count => listener.Count + calls.Open.Count();

    /// <summary>All of them, oldest first.</summary>
    public IEnumerable<Connection> All() =>
        listener.Connections.Select(Describe).Concat(calls.Open.Select(Describe)).OrderBy(c => c.Id);

    /// <summary>One of them; null when it has ended.</summary>
    public Connection? Find(uint id) =>
        listener.Find(id) is { } connection ? Describe(connection)
        : calls.Find(id) is { } call ? Describe(call)
        : null;

    private static Connection Describe(ClientConnection connection)
    {
        (int producers, int subscriptions) = connection.Protocol.Streams.CountKinds();
        return new Connection
        {
            Id = connection.Id,
            ClientName = connection.Protocol.ClientName,
            RemoteAddress = connection.Remote?.ToString() ?? "",
            ConnectTime = connection.Connected.ToTimestamp(),
            PublishersCount = (uint)producers,
            SubscribersCount = (uint)subscriptions,
            ClockSkew = connection.Protocol.ClockSkew?.ToDuration(),
        };
    }

    private static Connection Describe(MessageClient call) =>
        new()
        {
            Id = call.ConnectionId,
            ClientName = call.ClientName,
            RemoteAddress = call.Peer,
            ConnectTime = call.Opened.ToTimestamp(),
            PublishersCount = (uint)call.Producers,
            SubscribersCount = (uint)call.Subscriptions,
        };
}
