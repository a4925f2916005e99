using System.Runtime.CompilerServices;
using Google.Protobuf;
using LightQ.Grpc.Calls;

namespace LightQ.Grpc;

/// <summary>
/// A call under way that sends and receives any number of messages. One write and one read at a time; the two do not
/// wait for each other.
/// </summary>
/// <typeparam name="TRequest">The request message.</typeparam>
/// <typeparam name="TResponse">The response message.</typeparam>
public sealed class GrpcDuplexStreamingCall<TRequest, TResponse> : IDisposable
    where TRequest : class, IMessage<TRequest>
    where TResponse : class, IMessage<TResponse>
{
    private readonly GrpcClientCall<TRequest, TResponse> _call;

    internal GrpcDuplexStreamingCall(GrpcClientCall<TRequest, TResponse> call) => _call = call;

    /// <summary>Sends a request; completes when the transport took it.</summary>
    /// <exception cref="GrpcException">The call has ended, with the status the server gave if it is known.</exception>
    public ValueTask WriteAsync(TRequest request, CancellationToken cancellationToken = default) => _call.WriteAsync(request, cancellationToken);

    /// <summary>Ends the requests; the responses go on.</summary>
    public void CompleteRequests() => _call.CompleteRequests();

    /// <summary>The next response, or null when the server ended the call with OK.</summary>
    /// <exception cref="GrpcException">The call ended with another status than OK.</exception>
    public ValueTask<TResponse?> ReadAsync(CancellationToken cancellationToken = default) => _call.ReadAsync(cancellationToken);

    /// <summary>The responses that are still to come. Leaving the loop does not end the call; <see cref="Dispose"/> does.</summary>
    public async IAsyncEnumerable<TResponse> ReadAllAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        while (await _call.ReadAsync(cancellationToken).ConfigureAwait(false) is { } response)
            yield return response;
    }

    /// <summary>Ends the call, cancelling it if the responses were not read to their end.</summary>
    public void Dispose() => _call.Dispose();
}
