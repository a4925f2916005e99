using System.Net.Security;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker;
using LightQ.Broker.Cluster;

namespace LightQ.Server.Cluster;

/// <summary>
/// The connections to the control planes of other nodes, made when they are first needed. Thread-safe.
/// </summary>
internal sealed class NodeChannels(ClusterMembers members, SslClientAuthenticationOptions? tls) : IDisposable
{
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(3),
        // A connection that is dead in one direction is found out in three seconds.
        PingDelay = TimeSpan.FromSeconds(1),
        PingTimeout = TimeSpan.FromSeconds(2),
        IdleTime = TimeSpan.FromMinutes(2);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, (string Address, GrpcChannel Channel)> _channels = new(StringComparer.Ordinal);

    /// <summary>Who calls a node, and where that is.</summary>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.Unavailable"/>: the node is silent, or has never been heard of.
    /// </exception>
    public (CallInvoker Invoker, string Address) Of(string node)
    {
        lock (_lock)
        {
            foreach (string gone in _channels.Keys.Where(n => !IsThere(n)).ToArray())
                Close(gone);
            if (members.Find(node) is not { IsLive: true, ControlAddress: { Length: > 0 } address })
            {
                throw new BrokerException(
                    ErrorCode.Unavailable,
                    $"The node '{node}' would have to answer, and is silent: it has stopped, or is cut off."
                );
            }
            if (
                !_channels.TryGetValue(node, out (string Address, GrpcChannel Channel) known)
                || known.Address != address
            )
            {
                Close(node);
                _channels[node] = known = (address, Open(address));
            }
            return (known.Channel.CreateCallInvoker(), address);
        }
    }

    /// <summary>Ends what is under way.</summary>
    public void Dispose()
    {
        lock (_lock)
        {
            foreach (string node in _channels.Keys.ToArray())
                Close(node);
        }
    }

    private bool IsThere(string node) => members.Find(node) is { IsLive: true };

    private void Close(string node)
    {
        if (_channels.Remove(node, out (string Address, GrpcChannel Channel) known))
            known.Channel.Dispose();
    }

    private GrpcChannel Open(string address)
    {
        var handler = new SocketsHttpHandler
        {
            ConnectTimeout = ConnectTimeout,
            EnableMultipleHttp2Connections = true,
            KeepAlivePingDelay = PingDelay,
            KeepAlivePingTimeout = PingTimeout,
            PooledConnectionIdleTimeout = IdleTime,
            UseProxy = false,
        };
        if (tls is not null)
            handler.SslOptions = tls;
        return GrpcChannel.ForAddress(
            $"{(tls is null ? "http" : "https")}://{address}",
            new GrpcChannelOptions
            {
                HttpHandler = handler,
                DisposeHttpClient = true,
                // The other node has limits of its own, and what it has taken once may be longer when it is forwarded.
                MaxReceiveMessageSize = null,
                MaxSendMessageSize = null,
                MaxRetryAttempts = null,
            }
        );
    }
}
