using Grpc.Core;

namespace LightQ.Server.Control;

/// <summary>How the calls of a method with two streams come to the node that can serve them.</summary>
internal interface IStreamForward<TRequest, TResponse>
    where TRequest : class
    where TResponse : class
{
    /// <summary>Serves a call, here or elsewhere.</summary>
    Task ServeAsync(
        IAsyncStreamReader<TRequest> requests,
        IServerStreamWriter<TResponse> responses,
        ServerCallContext context,
        DuplexStreamingServerMethod<TRequest, TResponse> local
    );
}
