using Grpc.Core;

namespace LightQ.Server.Control;

/// <summary>How the calls of one method come to the nodes that can answer them.</summary>
internal abstract class Forward<TRequest, TResponse>
    where TRequest : class
    where TResponse : class
{
    /// <summary>Serves a call, here or elsewhere.</summary>
    /// <param name="request">The request; its caller may make it.</param>
    /// <param name="context">The call.</param>
    /// <param name="local">Serves it for what this node leads.</param>
    public abstract Task<TResponse> ServeAsync(
        TRequest request,
        ServerCallContext context,
        UnaryServerMethod<TRequest, TResponse> local
    );
}
