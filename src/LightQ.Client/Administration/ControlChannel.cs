using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.CompilerServices;
using Google.Protobuf;
using LightQ.Client.Encryption;
using LightQ.Grpc;
using LightQ.Protocol;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>Calls the control plane: logs in when the options have credentials, and turns every failure into <see cref="LightQException"/>.</summary>
/// <remarks>Thread-safe. Connects at the first call. A token that the broker no longer accepts is renewed once per call.</remarks>
internal sealed class ControlChannel : IDisposable
{
    private const string ErrorCodeTrailer = "lightq-error-code";

    private static readonly GrpcMethod<LoginRequest, LoginResponse> LoginMethod =
        GrpcMethod.Create<LoginRequest, LoginResponse>(AuthReflection.Descriptor.Services[0], "Login");

    private readonly LightQClientOptions _options;
    private readonly GrpcChannel _channel;
    private readonly Lazy<GrpcChannel> _guarded;
    private readonly SemaphoreSlim _loggingIn = new(1, 1);
    private volatile string? _token;

    public ControlChannel(LightQClientOptions options)
    {
        _options = options;
        _channel = Make(isGuarded: SecretGuard.IsNeeded(options));
        _guarded = new Lazy<GrpcChannel>(() => SecretGuard.IsOn(options) && !SecretGuard.IsNeeded(options) ? Make(isGuarded: true) : _channel);
    }

    /// <summary>One request, one response.</summary>
    /// <param name="method">The method.</param>
    /// <param name="request">The request.</param>
    /// <param name="hasSecret">Whether request or response hold a password or a token of somebody.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<TResponse> CallAsync<TRequest, TResponse>(GrpcMethod<TRequest, TResponse> method, TRequest request, bool hasSecret, CancellationToken cancellationToken)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        GrpcChannel channel = hasSecret ? _guarded.Value : _channel;
        string? token = await LogInAsync(null, cancellationToken).ConfigureAwait(false);
        try
        {
            return await channel.UnaryAsync(method, request, With(token), cancellationToken).ConfigureAwait(false);
        }
        catch (GrpcException e) when (token is null || _options.Token is not null || e.Status.Code != GrpcStatusCode.Unauthenticated)
        {
            throw Translate(e);
        }
        catch (GrpcException)
        {
            token = await LogInAsync(token, cancellationToken).ConfigureAwait(false);
        }
        try
        {
            return await channel.UnaryAsync(method, request, With(token), cancellationToken).ConfigureAwait(false);
        }
        catch (GrpcException e)
        {
            throw Translate(e);
        }
    }

    /// <summary>One request, one response, and no secret in either.</summary>
    public Task<TResponse> CallAsync<TRequest, TResponse>(GrpcMethod<TRequest, TResponse> method, TRequest request, CancellationToken cancellationToken)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        CallAsync(method, request, hasSecret: false, cancellationToken);

    public async IAsyncEnumerable<TResponse> StreamAsync<TRequest, TResponse>(
        GrpcMethod<TRequest, TResponse> method,
        TRequest request,
        [EnumeratorCancellation] CancellationToken cancellationToken)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        string? token = await LogInAsync(null, cancellationToken).ConfigureAwait(false);
        await using IAsyncEnumerator<TResponse> responses =
            _channel.ServerStreaming(method, request, With(token), cancellationToken).GetAsyncEnumerator(cancellationToken);
        while (true)
        {
            try
            {
                if (!await responses.MoveNextAsync().ConfigureAwait(false))
                    yield break;
            }
            catch (GrpcException e)
            {
                throw Translate(e);
            }
            yield return responses.Current;
        }
    }

    public void Dispose()
    {
        _channel.Dispose();
        if (_guarded.IsValueCreated)
            _guarded.Value.Dispose();
        _loggingIn.Dispose();
    }

    private GrpcChannel Make(bool isGuarded) => new(
        new UriBuilder(_options.Tls ? "https" : "http", _options.Host, _options.ControlPort).Uri,
        new GrpcChannelOptions
        {
            ConnectTimeout = _options.ConnectTimeout,
            TimeProvider = _options.ConnectionTime,
            Tls = _options.Tls ? ClientTls.Load(_options) : null,
            Connect = isGuarded ? cancellationToken => SecretGuard.ConnectAsync(_options, _options.ControlPort, cancellationToken) : null,
        });

    private LightQException Translate(GrpcException e)
    {
        for (Exception? inner = e.InnerException; inner is not null; inner = inner.InnerException)
        {
            if (inner is LightQException refused)
                return refused.Copy();
        }
        if (e.InnerException is { } cause && TlsFailure.ExplainCall(cause, _options) is { } failure)
            return failure;
        string message = string.IsNullOrEmpty(e.Status.Message) ? e.Status.Code.ToString() : e.Status.Message;
        return new LightQException(CodeOf(e), message, e);
    }

    private static ErrorCode CodeOf(GrpcException e)
    {
        if (TryParse(e.Trailers.GetValue(ErrorCodeTrailer), out ErrorCode code))
            return code;
        return e.Status.Code switch
        {
            GrpcStatusCode.InvalidArgument or GrpcStatusCode.OutOfRange => ErrorCode.InvalidArgument,
            GrpcStatusCode.NotFound => ErrorCode.UnknownTopic,
            GrpcStatusCode.AlreadyExists or GrpcStatusCode.FailedPrecondition => ErrorCode.TopicExists,
            GrpcStatusCode.PermissionDenied => ErrorCode.PermissionDenied,
            GrpcStatusCode.Unauthenticated => ErrorCode.Unauthenticated,
            GrpcStatusCode.ResourceExhausted => ErrorCode.ResourceExhausted,
            GrpcStatusCode.Unimplemented => ErrorCode.NotSupported,
            GrpcStatusCode.Unavailable => ErrorCode.Unavailable,
            GrpcStatusCode.DeadlineExceeded => ErrorCode.TimedOut,
            GrpcStatusCode.DataLoss => ErrorCode.CorruptData,
            _ => ErrorCode.Internal,
        };
    }

    /// <summary>Understands the number and the name, also with underscores.</summary>
    private static bool TryParse([NotNullWhen(true)] string? text, out ErrorCode code)
    {
        code = ErrorCode.None;
        if (text is null)
            return false;
        if (ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ushort number))
            code = (ErrorCode)number;
        else if (!Enum.TryParse(text.Replace("_", "", StringComparison.Ordinal), ignoreCase: true, out code))
            return false;
        return code != ErrorCode.None;
    }

    private static GrpcCallOptions? With(string? token) =>
        token is null ? null : new GrpcCallOptions { Metadata = new GrpcMetadata { { "authorization", $"Bearer {token}" } } };

    /// <summary>The token for the next call, a new one unless another caller has already replaced <paramref name="refused"/>.</summary>
    private async Task<string?> LogInAsync(string? refused, CancellationToken cancellationToken)
    {
        if (_options.Token is { } lasting)
            return lasting;
        if (_options.User is null || (_token is { } current && current != refused))
            return _token;
        await _loggingIn.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (_token is null || _token == refused)
            {
                var request = new LoginRequest { User = _options.User, Password = _options.Password ?? "" };
                _token = (await _channel.UnaryAsync(LoginMethod, request, null, cancellationToken).ConfigureAwait(false)).Token;
            }
            return _token;
        }
        catch (GrpcException e)
        {
            throw Translate(e);
        }
        finally
        {
            _loggingIn.Release();
        }
    }
}
