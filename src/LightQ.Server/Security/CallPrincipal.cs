using System.Net;
using Grpc.Core;
using LightQ.Server.Ports;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Security;

/// <summary>Who makes a call.</summary>
internal static class CallPrincipal
{
    private static readonly object Key = new();

    /// <summary>Keeps it with the call.</summary>
    public static void Set(HttpContext http, Principal principal) => http.Items[Key] = principal;

    /// <summary>Who it is, if that is known.</summary>
    public static Principal? Find(HttpContext http) =>
        http.Items.TryGetValue(Key, out object? principal) ? (Principal?)principal : null;

    /// <summary>The principal of a call that is not open to everyone.</summary>
    public static Principal Of(ServerCallContext context) => (Principal)context.GetHttpContext().Items[Key]!;

    /// <summary>What is known of the connection that the call came on.</summary>
    public static PeerChannel ChannelOf(ServerCallContext context) => ChannelOf(context.GetHttpContext());

    /// <summary>What is known of the connection that a request came on.</summary>
    public static PeerChannel ChannelOf(HttpContext http)
    {
        ConnectionInfo from = http.Connection;
        IPEndPoint? remote = from.RemoteIpAddress is { } address ? new IPEndPoint(address, from.RemotePort) : null;
        return new(remote, TlsGate.ClientNamesOf(http));
    }
}
