using System.Runtime.CompilerServices;
using Google.Protobuf;
using LightQ.Grpc.Calls;

namespace LightQ.Grpc;

/// <summary>
/// Calls the gRPC services at one address. Thread-safe; make one and keep it. It connects at the first call and again
/// whenever the connection was lost; a call never retries by itself.
/// </summary>
/// <remarks>
/// A call that the server or the transport ends throws <see cref="GrpcException"/>; one that the caller's token cancels
/// throws <see cref="OperationCanceledException"/>.
/// </remarks>
public sealed class GrpcChannel : IDisposable
{
    private readonly HttpMessageInvoker _http;

    /// <summary>Makes a channel without connecting.</summary>
    /// <param name="address">
    /// <c>http://host:port</c>, where HTTP/2 is spoken without negotiation, or <c>https://host:port</c>.
    /// </param>
    /// <param name="options">How to connect; null means the defaults.</param>
    public GrpcChannel(Uri address, GrpcChannelOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(address);
        if (!address.IsAbsoluteUri || address.Scheme is not ("http" or "https"))
            throw new ArgumentException($"'{address}' is not an http or https address.", nameof(address));
        Address = address;
        Options = options ?? new GrpcChannelOptions();
        _http = Options.Handler is { } handler
            ? new HttpMessageInvoker(handler, disposeHandler: false)
            : new HttpMessageInvoker(CreateHandler(Options), disposeHandler: true);
    }

    /// <summary>Where the services are.</summary>
    public Uri Address { get; }

    /// <summary>The options in force.</summary>
    public GrpcChannelOptions Options { get; }

    /// <summary>One request, one response.</summary>
    public async Task<TResponse> UnaryAsync<TRequest, TResponse>(
        GrpcMethod<TRequest, TResponse> method, TRequest request, GrpcCallOptions? options = null, CancellationToken cancellationToken = default)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        using GrpcClientCall<TRequest, TResponse> call = Start(method, GrpcMethodType.Unary, request, options, cancellationToken);
        return await call.ReadSingleAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// One request, any number of responses. The call starts when the result is enumerated, and again each time it is;
    /// leaving the loop early cancels it.
    /// </summary>
    public async IAsyncEnumerable<TResponse> ServerStreaming<TRequest, TResponse>(
        GrpcMethod<TRequest, TResponse> method,
        TRequest request,
        GrpcCallOptions? options = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        using GrpcClientCall<TRequest, TResponse> call = Start(method, GrpcMethodType.ServerStreaming, request, options, cancellationToken);
        while (await call.ReadAsync(cancellationToken).ConfigureAwait(false) is { } response)
            yield return response;
    }

    /// <summary>Any number of requests, one response. Dispose the result; before the response was read that cancels the call.</summary>
    /// <param name="method">The method.</param>
    /// <param name="options">What this call adds to the channel's options.</param>
    /// <param name="cancellationToken">Cancels the call as long as it lasts.</param>
    public GrpcClientStreamingCall<TRequest, TResponse> ClientStreaming<TRequest, TResponse>(
        GrpcMethod<TRequest, TResponse> method, GrpcCallOptions? options = null, CancellationToken cancellationToken = default)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        new(Start(method, GrpcMethodType.ClientStreaming, null, options, cancellationToken));

    /// <summary>Any number of requests and responses. Dispose the result; before the responses ended that cancels the call.</summary>
    /// <param name="method">The method.</param>
    /// <param name="options">What this call adds to the channel's options.</param>
    /// <param name="cancellationToken">Cancels the call as long as it lasts.</param>
    public GrpcDuplexStreamingCall<TRequest, TResponse> DuplexStreaming<TRequest, TResponse>(
        GrpcMethod<TRequest, TResponse> method, GrpcCallOptions? options = null, CancellationToken cancellationToken = default)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        new(Start(method, GrpcMethodType.DuplexStreaming, null, options, cancellationToken));

    /// <summary>Closes the connections; calls under way fail.</summary>
    public void Dispose() => _http.Dispose();

    private GrpcClientCall<TRequest, TResponse> Start<TRequest, TResponse>(
        GrpcMethod<TRequest, TResponse> method, GrpcMethodType type, TRequest? request, GrpcCallOptions? options, CancellationToken cancellationToken)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        ArgumentNullException.ThrowIfNull(method);
        if (method.Type != type) throw new ArgumentException($"{method.FullName} is {method.Type}, not {type}.", nameof(method));
        if (type is GrpcMethodType.Unary or GrpcMethodType.ServerStreaming) ArgumentNullException.ThrowIfNull(request);
        return new GrpcClientCall<TRequest, TResponse>(_http, this, method, request, options ?? new GrpcCallOptions(), cancellationToken);
    }

    private static SocketsHttpHandler CreateHandler(GrpcChannelOptions options)
    {
        SocketsHttpHandler handler = new()
        {
            AllowAutoRedirect = false,
            ConnectTimeout = options.ConnectTimeout,
            EnableMultipleHttp2Connections = true,
            KeepAlivePingDelay = options.KeepAlivePingDelay,
            KeepAlivePingTimeout = options.KeepAlivePingTimeout,
            KeepAlivePingPolicy = HttpKeepAlivePingPolicy.WithActiveRequests,
            UseCookies = false,
            UseProxy = false,
        };
        if (options.Connect is { } connect) handler.ConnectCallback = (_, cancellationToken) => connect(cancellationToken);
        if (options.Tls is not null) handler.SslOptions = options.Tls;
        return handler;
    }
}
