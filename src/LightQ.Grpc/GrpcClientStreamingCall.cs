using Google.Protobuf;
using LightQ.Grpc.Calls;

namespace LightQ.Grpc;

/// <summary>A call under way that sends any number of requests and gets one response. One write at a time.</summary>
/// <typeparam name="TRequest">The request message.</typeparam>
/// <typeparam name="TResponse">The response message.</typeparam>
public sealed class GrpcClientStreamingCall<TRequest, TResponse> : IDisposable
    where TRequest : class, IMessage<TRequest>
    where TResponse : class, IMessage<TResponse>
{
    private readonly GrpcClientCall<TRequest, TResponse> _call;

    internal GrpcClientStreamingCall(GrpcClientCall<TRequest, TResponse> call) => _call = call;

    /// <summary>Sends a request; completes when the transport took it.</summary>
    /// <exception cref="GrpcException">The call has ended, with the status the server gave if it is known.</exception>
    public ValueTask WriteAsync(TRequest request, CancellationToken cancellationToken = default) => _call.WriteAsync(request, cancellationToken);

    /// <summary>Ends the requests and waits for the response.</summary>
    /// <exception cref="GrpcException">The call ended with another status than OK.</exception>
    public Task<TResponse> CompleteAsync(CancellationToken cancellationToken = default)
    {
        _call.CompleteRequests();
        return _call.ReadSingleAsync(cancellationToken);
    }

    /// <summary>Ends the call, cancelling it if the response was not read.</summary>
    public void Dispose() => _call.Dispose();
}
