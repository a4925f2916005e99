using LightQ.Broker;
using LightQ.Server.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using LightQ.Server.Tls;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Cluster;

/// <summary>What this node has of the others for its control plane.</summary>
internal sealed class NodeLinks : INodes, IDisposable
{
    private readonly NodeGate _gate;
    private readonly Forwards _forwards;
    private readonly NodeChannels _channels;
    private readonly NodeTrials _trials;

    private NodeLinks(NodeGate gate, Forwards forwards, NodeChannels channels, NodeTrials trials) =>
        (_gate, _forwards, _channels, _trials) = (gate, forwards, channels, trials);

    /// <summary>Makes it, if the broker is a node of a cluster.</summary>
    /// <exception cref="ServerStartException">The authorities of their certificates cannot be read.</exception>
    public static NodeLinks? Open(
        LightQBroker broker,
        ServerSecurity security,
        LightQServerOptions options,
        ServerTls? tls,
        ILogger logger
    )
    {
        if (broker.Replicas.Members is not { } members)
            return null;
        var rules = NodeTls.Of(tls, options.Cluster.NodeCaFile, options.TimeProvider, logger);
        var channels = new NodeChannels(members, rules);
        var tokens = new NodeTokens(broker.GetNodeSecret(), members.Node, broker, options.TimeProvider, members.TimeAt);
        var leaders = new Leaders(members, options.ConnectionTime);
        var calls = new NodeCalls(broker, leaders, tokens, channels);
        broker.LetterCarrier = new LetterCarrier(leaders, tokens, channels);
        return new NodeLinks(
            new NodeGate(tokens, security.Events),
            new Forwards(
                calls,
                security.Access,
                new PublishOnce(broker, PublishOnce.MostBytes(options.DataPlane), options.TimeProvider),
                options.ConnectionTime
            ),
            channels,
            new NodeTrials(members, tokens, channels, rules, options.TimeProvider)
        );
    }

    /// <summary>Begins to try whether the others can be called; this node listens by now.</summary>
    public void Begin() => _trials.Begin();

    /// <inheritdoc/>
    public Principal? Identify(HttpContext http, string method) => _gate.Find(http, method);

    /// <inheritdoc/>
    public Forward<TRequest, TResponse>? Find<TRequest, TResponse>(string method)
        where TRequest : class
        where TResponse : class => _forwards.Find<TRequest, TResponse>(method);

    /// <inheritdoc/>
    public IStreamForward<TRequest, TResponse>? FindStream<TRequest, TResponse>(string method)
        where TRequest : class
        where TResponse : class => _forwards.FindStream<TRequest, TResponse>(method);

    /// <summary>Ends the calls that are under way.</summary>
    public void Dispose()
    {
        _trials.Dispose();
        _channels.Dispose();
    }
}
