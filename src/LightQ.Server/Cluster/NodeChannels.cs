using System.Net.Security;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker;
using LightQ.Broker.Cluster;

namespace LightQ.Server.Cluster;

/// <summary>
/// The connections to the control planes of other nodes, made when they are first needed. Thread-safe.
/// </summary>
/// <param name="members">The nodes.</param>
/// <param name="tls">How their certificates are checked; null without TLS.</param>
internal sealed class NodeChannels(ClusterMembers members, NodeTls? tls) : IDisposable
{
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(3),
        // A connection that is dead in one direction is found out in three seconds.
        PingDelay = TimeSpan.FromSeconds(1),
        PingTimeout = TimeSpan.FromSeconds(2),
        IdleTime = TimeSpan.FromMinutes(2);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Link> _links = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Link> _former = new(StringComparer.Ordinal); // Calls may be under way there.

    /// <summary>Who calls a node, and where that is.</summary>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.Unavailable"/>: the node is silent, or has never been heard of.
    /// </exception>
    public (CallInvoker Invoker, string Address) Of(string node)
    {
        lock (_lock)
        {
            foreach (string gone in _links.Keys.Where(n => !IsThere(n)).ToArray())
                Close(gone);
            if (members.Find(node) is not { IsLive: true, ControlAddress: { Length: > 0 } address })
            {
                throw new BrokerException(
                    ErrorCode.Unavailable,
                    $"The node '{node}' would have to answer, and is silent: it has stopped, or is cut off."
                );
            }
            SslClientAuthenticationOptions? rules = tls?.Current;
            if (!_links.TryGetValue(node, out Link known) || known.Address != address)
            {
                Close(node);
                _links[node] = known = new Link(address, rules, Open(address, rules));
            }
            else if (known.Rules != rules)
            {
                // Other authorities: what was connected before ends what is under way, and no more.
                Close(_former, node);
                _former[node] = known;
                _links[node] = known = new Link(address, rules, Open(address, rules));
            }
            return (known.Channel.CreateCallInvoker(), address);
        }
    }

    /// <summary>Ends what is under way.</summary>
    public void Dispose()
    {
        lock (_lock)
        {
            foreach (string node in _links.Keys.ToArray())
                Close(node);
        }
    }

    private bool IsThere(string node) => members.Find(node) is { IsLive: true };

    private void Close(string node)
    {
        Close(_links, node);
        Close(_former, node);
    }

    private static void Close(Dictionary<string, Link> links, string node)
    {
        if (links.Remove(node, out Link known))
            known.Channel.Dispose();
    }

    private static GrpcChannel Open(string address, SslClientAuthenticationOptions? rules)
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
        if (rules is not null)
            handler.SslOptions = rules;
        return GrpcChannel.ForAddress(
            $"{(rules is null ? "http" : "https")}://{address}",
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

    private readonly record struct Link(string Address, SslClientAuthenticationOptions? Rules, GrpcChannel Channel);
}
