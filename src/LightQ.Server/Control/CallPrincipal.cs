using System.Net;
using LightQ.Grpc.AspNetCore;
using LightQ.Server.Hosting;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Control;

/// <summary>Who makes a call.</summary>
internal static class CallPrincipal
{
    private static readonly object Key = new();

    /// <summary>Keeps it with the call.</summary>
    public static void Set(GrpcServerCallContext context, Principal principal) => context.HttpContext.Items[Key] = principal;

    /// <summary>Who it is, of a call that is not open to everyone.</summary>
    public static Principal Of(GrpcServerCallContext context) => (Principal)context.HttpContext.Items[Key]!;

    /// <summary>What is known of the connection that the call came on.</summary>
    public static PeerChannel ChannelOf(GrpcServerCallContext context) => ChannelOf(context.HttpContext);

    /// <summary>What is known of the connection that a request came on.</summary>
    public static PeerChannel ChannelOf(HttpContext http) =>
        new(http.Connection.RemoteIpAddress is { } address ? new IPEndPoint(address, http.Connection.RemotePort) : null, TlsGate.ClientNamesOf(http));
}
