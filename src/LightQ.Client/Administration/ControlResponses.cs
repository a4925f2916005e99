using Grpc.Core;

namespace LightQ.Client.Administration;

/// <summary>The responses of a call that has many: it begins when the first is asked for.</summary>
/// <param name="login">Gives the call its token.</param>
/// <param name="errors">Explains what fails.</param>
/// <param name="begin">Begins the call with a token.</param>
/// <param name="cancellationToken">Ends the call.</param>
internal sealed class ControlResponses<TResponse>(
    ControlLogin login,
    ControlErrors errors,
    Func<string?, AsyncServerStreamingCall<TResponse>> begin,
    CancellationToken cancellationToken
) : IAsyncStreamReader<TResponse>
{
    private AsyncServerStreamingCall<TResponse>? _call;

    public TResponse Current => _call!.ResponseStream.Current;

    /// <param name="ofRead">Ends the call, too: what was half received cannot be taken back.</param>
    public async Task<bool> MoveNext(CancellationToken ofRead)
    {
        _call ??= begin(await login.GetTokenAsync(null, cancellationToken).ConfigureAwait(false));
        try
        {
            return await _call.ResponseStream.MoveNext(ofRead).ConfigureAwait(false);
        }
        catch (RpcException e)
        {
            CancellationToken ended = ofRead.IsCancellationRequested ? ofRead : cancellationToken;
            throw errors.Translate(e, ControlErrors.HasAnswered(_call.ResponseHeadersAsync), ended);
        }
    }

    public void Dispose() => _call?.Dispose();
}
