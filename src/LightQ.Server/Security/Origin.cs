using System.Net;
using Grpc.Core;

namespace LightQ.Server.Security;

/// <summary>Where a <see cref="SecurityEvent"/> came from.</summary>
/// <param name="Plane">The port: data, control or web; empty for the broker itself.</param>
/// <param name="Remote">The peer; null for the broker itself, or when it is not known.</param>
internal readonly record struct Origin(string Plane, IPEndPoint? Remote)
{
    /// <summary>The broker itself.</summary>
    public static Origin Broker { get; } = new("", null);

    /// <summary>The peer's address and port; empty for the broker itself.</summary>
    public string Address => Plane.Length == 0 ? "" : Remote?.ToString() ?? "unknown";

    /// <summary>A connection of the data plane.</summary>
    public static Origin Data(PeerChannel peer) => new("data", peer.Remote);

    /// <summary>A connection of the control plane.</summary>
    public static Origin Control(PeerChannel peer) => new("control", peer.Remote);

    /// <summary>A call of the control plane.</summary>
    public static Origin Control(ServerCallContext context) => Control(CallPrincipal.ChannelOf(context));

    /// <summary>A request to the web port.</summary>
    public static Origin Web(IPEndPoint? remote) => new("web", remote);

    /// <summary>The address, for logs.</summary>
    public override string ToString() => Address;
}
