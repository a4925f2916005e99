using LightQ.Broker;
using LightQ.Server.Security;
using LightQ.Server.Tls;

namespace LightQ.Server.Cluster;

/// <summary>What this node has of the others for its control plane.</summary>
internal sealed class NodeLinks : IDisposable
{
    private readonly NodeChannels _channels;

    private NodeLinks(NodeGate gate, Forwards forwards, NodeChannels channels) =>
        (Gate, Forwards, _channels) = (gate, forwards, channels);

    /// <summary>Knows their calls.</summary>
    public NodeGate Gate { get; }

    /// <summary>Has them answer for what they lead.</summary>
    public Forwards Forwards { get; }

    /// <summary>Makes it, if the broker is a node of a cluster.</summary>
    /// <exception cref="ServerStartException">The authorities of their certificates cannot be read.</exception>
    public static NodeLinks? Open(
        LightQBroker broker,
        ServerSecurity security,
        LightQServerOptions options,
        ServerTls? tls
    )
    {
        if (broker.Replicas.Members is not { } members)
            return null;
        var channels = new NodeChannels(members, NodeTls.OptionsOf(tls, options.Cluster.NodeCaFile));
        var tokens = new NodeTokens(broker.GetNodeSecret(), members.Node, broker, options.TimeProvider);
        var leaders = new Leaders(members, options.ConnectionTime);
        var calls = new NodeCalls(broker, leaders, tokens, channels);
        broker.LetterCarrier = new LetterCarrier(leaders, tokens, channels);
        return new NodeLinks(
            new NodeGate(tokens, security.Events),
            new Forwards(calls, security.Access, options.ConnectionTime),
            channels
        );
    }

    /// <summary>Ends the calls that are under way.</summary>
    public void Dispose() => _channels.Dispose();
}
