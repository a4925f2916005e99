using Grpc.Core;

namespace LightQ.Server.Cluster;

/// <summary>The requests of a call whose first one was read already.</summary>
internal sealed class PeekedRequests<TRequest>(IAsyncStreamReader<TRequest> requests, bool hasFirst)
    : IAsyncStreamReader<TRequest>
{
    private bool _isPassed;

    public TRequest Current => requests.Current;

    public Task<bool> MoveNext(CancellationToken cancellationToken)
    {
        if (_isPassed)
            return requests.MoveNext(cancellationToken);
        _isPassed = true;
        return Task.FromResult(hasFirst);
    }
}
