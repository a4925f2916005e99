using System.Net;
using System.Net.Sockets;
using LightQ.Grpc.AspNetCore.Calls;
using LightQ.Grpc.Framing;
using Microsoft.AspNetCore.Http;

namespace LightQ.Grpc.AspNetCore;

/// <summary>One call as its handler and the interceptors see it. Not thread-safe, and valid until the handler returns.</summary>
public sealed class GrpcServerCallContext
{
    internal GrpcServerCallContext(
        HttpContext http, string method, GrpcMethodType methodType, DateTimeOffset? deadline, GrpcServerOptions options, CancellationToken cancellationToken)
    {
        HttpContext = http;
        Method = method;
        MethodType = methodType;
        Deadline = deadline;
        Options = options;
        CancellationToken = cancellationToken;
        string? encoding = http.Request.Headers[GrpcHeaders.Encoding];
        Reader = new GrpcMessageReader(http.Request.BodyReader, options.MaxReceiveMessageSize, encoding);
    }

    /// <summary>The method called: <c>/package.Service/Method</c>.</summary>
    public string Method { get; }

    /// <summary>Which sides of the call are streams.</summary>
    public GrpcMethodType MethodType { get; }

    /// <summary>The metadata the client sent.</summary>
    public GrpcMetadata RequestMetadata => field ??= GrpcHttp.ReadMetadata(HttpContext.Request.Headers);

    /// <summary>Metadata to send before the first response; what is added after that is not sent.</summary>
    public GrpcMetadata ResponseHeaders { get; } = [];

    /// <summary>Metadata to send with the status.</summary>
    public GrpcMetadata ResponseTrailers { get; } = [];

    /// <summary>When the client stops waiting, or null when it does not say.</summary>
    public DateTimeOffset? Deadline { get; }

    /// <summary>
    /// Cancelled when the client ends the call or is gone, when the deadline passes and, except for unary methods, when the
    /// server stops. A handler is expected to end soon after; the status of the call then is the cause's.
    /// </summary>
    public CancellationToken CancellationToken { get; }

    /// <summary>The client's address as gRPC writes it: <c>ipv4:127.0.0.1:50000</c>, <c>ipv6:[::1]:50000</c>.</summary>
    public string Peer => field ??= FormatPeer(HttpContext.Connection.RemoteIpAddress, HttpContext.Connection.RemotePort);

    /// <summary>The HTTP request under the call; its <c>Items</c> pass values from interceptors to handlers.</summary>
    public HttpContext HttpContext { get; }

    internal GrpcServerOptions Options { get; }

    internal GrpcMessageReader Reader { get; }

    /// <summary>Whether response headers were sent, or a response written that takes them with it.</summary>
    internal bool HasResponse { get; private set; }

    /// <summary>Sends the response headers now rather than with the first response.</summary>
    public async Task SendResponseHeadersAsync()
    {
        ApplyResponseHeaders();
        await HttpContext.Response.BodyWriter.FlushAsync(CancellationToken).ConfigureAwait(false);
    }

    /// <summary>Ends the enumeration of the requests with <see cref="OperationCanceledException"/>: the read under way, or the next one. Callable from any thread while the handler runs.</summary>
    public void StopReading()
    {
        try
        {
            HttpContext.Request.BodyReader.CancelPendingRead();
        }
        catch (IOException)
        {
            // The client has reset its stream, which ends the enumeration anyway.
        }
    }

    internal void ApplyResponseHeaders()
    {
        if (HasResponse) return;
        HasResponse = true;
        GrpcHttp.Append(HttpContext.Response.Headers, ResponseHeaders);
    }

    private static string FormatPeer(IPAddress? address, int port)
    {
        if (address is null) return "unknown";
        if (address.IsIPv4MappedToIPv6) address = address.MapToIPv4();
        return address.AddressFamily == AddressFamily.InterNetwork ? $"ipv4:{address}:{port}" : $"ipv6:[{address}]:{port}";
    }
}
