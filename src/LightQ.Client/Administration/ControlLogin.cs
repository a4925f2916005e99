using Grpc.Core;
using LightQ.Client.Connections;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>
/// The token that calls carry: that of the options, or one that a login with their user and password returns.
/// Thread-safe.
/// </summary>
/// <param name="options">The client's options.</param>
/// <param name="auth">Where to log in.</param>
/// <param name="errors">Explains what fails.</param>
internal sealed class ControlLogin(LightQClientOptions options, Auth.AuthClient auth, ControlErrors errors)
    : IDisposable
{
    private readonly SemaphoreSlim _loggingIn = new(1, 1);
    private volatile string? _token;

    /// <summary>Whether there may be another token when the broker does not accept one any more.</summary>
    public bool CanRenew => options.Token is null && (options.HasToken || options.User is not null);

    /// <summary>
    /// The token for the next call, a new one unless another caller has already replaced <paramref name="refused"/>;
    /// null without credentials.
    /// </summary>
    /// <exception cref="LightQException">The broker rejects the login, or cannot be reached.</exception>
    public async Task<string?> GetTokenAsync(string? refused, CancellationToken cancellationToken)
    {
        if (options.Token is { } lasting)
            return lasting;
        if (!CanRenew || (_token is { } current && current != refused))
            return _token;
        await _loggingIn.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (_token is null || _token == refused)
                _token = await LogInAsync(cancellationToken).ConfigureAwait(false);
            return _token;
        }
        finally
        {
            _loggingIn.Release();
        }
    }

    public void Dispose() => _loggingIn.Dispose();

    private async Task<string> LogInAsync(CancellationToken cancellationToken)
    {
        LightQClientOptions login = await LoginSecrets.ReadAsync(options, cancellationToken).ConfigureAwait(false);
        if (login.Token is { } token)
            return token;
        var request = new LoginRequest { User = login.User!, Password = login.Password ?? "" };
        using AsyncUnaryCall<LoginResponse> call = auth.LoginAsync(request, cancellationToken: cancellationToken);
        try
        {
            return (await call.ResponseAsync.ConfigureAwait(false)).Token;
        }
        catch (RpcException e)
        {
            throw errors.Translate(e, ControlErrors.HasAnswered(call.ResponseHeadersAsync), cancellationToken);
        }
    }
}
