using System.Net;
using Grpc.Core;
using Grpc.Core.Interceptors;
using Grpc.Net.Client;
using LightQ.Client.Encryption;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>
/// The channel to one broker's control plane. It logs in when the options have credentials, and turns every failure
/// into a <see cref="LightQException"/>.
/// </summary>
/// <remarks>
/// Thread-safe. Connects at the first call. A token that the broker no longer accepts is renewed once per call.
/// </remarks>
internal sealed class ControlNode : IDisposable
{
    private static readonly TimeSpan PingDelay = TimeSpan.FromSeconds(30),
        PingTimeout = TimeSpan.FromSeconds(15);

    /// <summary>The shortest that the runtime's handler has.</summary>
    private static readonly TimeSpan WatchPing = TimeSpan.FromSeconds(1);

    private readonly LightQClientOptions _options;
    private readonly GrpcChannel _channel;
    private readonly Lazy<GrpcChannel> _guardedChannel;
    private readonly Lazy<CallInvoker> _guarded;
    private readonly Lazy<GrpcChannel> _watchChannel;
    private readonly Lazy<CallInvoker> _watch;
    private readonly ControlLogin _login;

    public ControlNode(LightQClientOptions options)
    {
        _options = options;
        _channel = Make(isGuarded: SecretGuard.IsNeeded(options), PingDelay, PingTimeout);
        bool isOther = SecretGuard.IsOn(options) && !SecretGuard.IsNeeded(options);
        _guardedChannel = new Lazy<GrpcChannel>(() =>
            isOther ? Make(isGuarded: true, PingDelay, PingTimeout) : _channel
        );
        _watchChannel = new Lazy<GrpcChannel>(() => Make(SecretGuard.IsNeeded(options), WatchPing, WatchPing));
        var errors = new ControlErrors(options);
        _login = new ControlLogin(options, new Auth.AuthClient(_channel), errors);
        var interceptor = new ControlInterceptor(_login, errors);
        Calls = _channel.CreateCallInvoker().Intercept(interceptor);
        _guarded = new Lazy<CallInvoker>(() => _guardedChannel.Value.CreateCallInvoker().Intercept(interceptor));
        _watch = new Lazy<CallInvoker>(() => _watchChannel.Value.CreateCallInvoker().Intercept(interceptor));
    }

    /// <summary>For calls without a secret in request and response.</summary>
    public CallInvoker Calls { get; }

    /// <summary>For calls whose request or response holds a password or a token of a user.</summary>
    public CallInvoker SecretCalls => _guarded.Value;

    /// <summary>For calls without a secret that wait for news, and notice soon when the broker stands still.</summary>
    public CallInvoker WatchCalls => _watch.Value;

    public void Dispose()
    {
        _channel.Dispose();
        if (_guardedChannel.IsValueCreated)
            _guardedChannel.Value.Dispose();
        if (_watchChannel.IsValueCreated)
            _watchChannel.Value.Dispose();
        _login.Dispose();
    }

    /// <summary>
    /// One connection, or more when the broker allows no more calls on it. It connects by a callback, because the
    /// channel's own way of connecting names neither address nor cause when it fails.
    /// </summary>
    private GrpcChannel Make(bool isGuarded, TimeSpan pingDelay, TimeSpan pingTimeout)
    {
        var handler = new SocketsHttpHandler
        {
            AllowAutoRedirect = false,
            ConnectTimeout = _options.ConnectTimeout,
            EnableMultipleHttp2Connections = true,
            KeepAlivePingDelay = pingDelay,
            KeepAlivePingTimeout = pingTimeout,
            KeepAlivePingPolicy = HttpKeepAlivePingPolicy.WithActiveRequests,
            UseCookies = false,
            UseProxy = false,
            ConnectCallback = (_, cancellationToken) => ConnectAsync(isGuarded, cancellationToken),
        };
        if (_options.Tls)
            handler.SslOptions = ClientTls.Load(_options);
        var address = new UriBuilder(_options.Tls ? "https" : "http", _options.Host, _options.ControlPort).Uri;
        return GrpcChannel.ForAddress(
            address,
            new GrpcChannelOptions
            {
                HttpHandler = handler,
                DisposeHttpClient = true,
                HttpVersionPolicy = HttpVersionPolicy.RequestVersionExact,
                CompressionProviders = [], // The broker sends messages as they are.
            }
        );
    }

    private async ValueTask<Stream> ConnectAsync(bool isGuarded, CancellationToken cancellationToken)
    {
        IPAddress[] addresses = isGuarded
            ? await SecretGuard.ResolveAsync(_options, cancellationToken).ConfigureAwait(false)
            : await HostAddresses.OfAsync(_options.Host, cancellationToken).ConfigureAwait(false);
        return await HostAddresses
            .ConnectAsync(addresses, _options.ControlPort, cancellationToken)
            .ConfigureAwait(false);
    }
}
