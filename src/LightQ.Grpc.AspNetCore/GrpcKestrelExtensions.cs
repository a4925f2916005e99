using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace LightQ.Grpc.AspNetCore;

/// <summary>Prepares Kestrel for gRPC.</summary>
public static class GrpcKestrelExtensions
{
    /// <summary>
    /// Lets response streams be slow or idle for any time: no minimum response rate (server-wide, since HTTP/2 has none per
    /// stream), and pings find clients that are gone instead.
    /// </summary>
    public static KestrelServerOptions UseGrpcLimits(this KestrelServerOptions kestrel)
    {
        ArgumentNullException.ThrowIfNull(kestrel);
        kestrel.Limits.MinResponseDataRate = null;
        kestrel.Limits.Http2.KeepAlivePingDelay = TimeSpan.FromSeconds(30);
        kestrel.Limits.Http2.KeepAlivePingTimeout = TimeSpan.FromSeconds(15);
        return kestrel;
    }

    /// <summary>Makes an endpoint speak HTTP/2 alone; without TLS that is what gRPC clients expect.</summary>
    public static ListenOptions UseGrpc(this ListenOptions listen)
    {
        ArgumentNullException.ThrowIfNull(listen);
        listen.Protocols = HttpProtocols.Http2;
        return listen;
    }
}
