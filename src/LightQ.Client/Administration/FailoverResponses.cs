using Grpc.Core;

namespace LightQ.Client.Administration;

/// <summary>
/// The responses of a call that has many, from the first broker that answers: the call begins when the first response
/// is asked for.
/// </summary>
/// <param name="begin">Begins the call, and says whether it has a first response.</param>
internal sealed class FailoverResponses<TResponse>(
    Func<CancellationToken, Task<(AsyncServerStreamingCall<TResponse> Call, bool HasFirst)>> begin
) : IAsyncStreamReader<TResponse>
{
    private AsyncServerStreamingCall<TResponse>? _call;

    public TResponse Current => _call!.ResponseStream.Current;

    public async Task<bool> MoveNext(CancellationToken cancellationToken)
    {
        if (_call is not null)
            return await _call.ResponseStream.MoveNext(cancellationToken).ConfigureAwait(false);
        (_call, bool hasFirst) = await begin(cancellationToken).ConfigureAwait(false);
        return hasFirst;
    }

    public void Dispose() => _call?.Dispose();
}
