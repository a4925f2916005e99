using System.Net;
using LightQ.Grpc.AspNetCore;
using LightQ.Server.Control;

namespace LightQ.Server.Security;

/// <summary>Where a <see cref="SecurityEvent"/> came from.</summary>
/// <param name="Plane">The port: data, control or web; empty for the broker itself.</param>
/// <param name="Address">The peer's address and port; empty for the broker itself.</param>
internal readonly record struct Origin(string Plane, string Address)
{
    /// <summary>The broker itself.</summary>
    public static Origin Broker { get; } = new("", "");

    /// <summary>A connection of the data plane.</summary>
    public static Origin Data(PeerChannel peer) => new("data", peer.ToString());

    /// <summary>A call of the control plane.</summary>
    public static Origin Control(GrpcServerCallContext context) => new("control", CallPrincipal.ChannelOf(context).ToString());

    /// <summary>A request to the web port.</summary>
    public static Origin Web(IPEndPoint? remote) => new("web", remote?.ToString() ?? "unknown");

    /// <summary>The address, for logs.</summary>
    public override string ToString() => Address;
}
