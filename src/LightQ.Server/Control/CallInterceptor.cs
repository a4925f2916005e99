using Google.Protobuf;
using Grpc.Core;
using Grpc.Core.Interceptors;
using LightQ.Broker;
using LightQ.Server.Security;
using LightQ.Storage.Files;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>
/// Passes to a handler only requests that its caller may make, and reports to the client what was rejected or has
/// failed.
/// </summary>
/// <param name="access">Decides.</param>
/// <param name="logger">Logs defects.</param>
/// <param name="stopping">The ports are about to close.</param>
/// <param name="nodes">Has other nodes answer for what they lead; null where there is no cluster.</param>
internal sealed class CallInterceptor(
    AccessControl access,
    ILogger logger,
    CancellationToken stopping,
    INodes? nodes = null
) : Interceptor
{
    public override async Task<TResponse> UnaryServerHandler<TRequest, TResponse>(
        TRequest request,
        ServerCallContext context,
        UnaryServerMethod<TRequest, TResponse> continuation
    )
    {
        try
        {
            return access.MayBeOld
                ? await access
                    .DecideAsync(
                        () => new ValueTask<TResponse>(ServeAsync(request, context, continuation)),
                        context.CancellationToken,
                        static e => ControlErrors.CodeOf(e) ?? ErrorCode.None
                    )
                    .ConfigureAwait(false)
                : await ServeAsync(request, context, continuation).ConfigureAwait(false);
        }
        catch (Exception e) when (Explain(e, context) is { } error)
        {
            throw error;
        }
    }

    public override async Task ServerStreamingServerHandler<TRequest, TResponse>(
        TRequest request,
        IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context,
        ServerStreamingServerMethod<TRequest, TResponse> continuation
    )
    {
        try
        {
            if (access.MayBeOld)
                await DemandAsync(request, context).ConfigureAwait(false);
            else
                Demand(request, context);
            await continuation(request, responseStream, context).ConfigureAwait(false);
        }
        catch (Exception e) when (Explain(e, context) is { } error)
        {
            throw error;
        }
    }

    /// <summary>
    /// The call itself demands its right for the topic of the first request (<see cref="CallAccess"/>).
    /// </summary>
    public override async Task DuplexStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream,
        IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context,
        DuplexStreamingServerMethod<TRequest, TResponse> continuation
    )
    {
        try
        {
            if (nodes?.FindStream<TRequest, TResponse>(context.Method) is { } forward)
                await forward.ServeAsync(requestStream, responseStream, context, continuation).ConfigureAwait(false);
            else
                await continuation(requestStream, responseStream, context).ConfigureAwait(false);
        }
        catch (Exception e) when (Explain(e, context) is { } error)
        {
            throw error;
        }
    }

    private async Task<TResponse> ServeAsync<TRequest, TResponse>(
        TRequest request,
        ServerCallContext context,
        UnaryServerMethod<TRequest, TResponse> continuation
    )
        where TRequest : class
        where TResponse : class
    {
        Demand(request, context);
        return nodes?.Find<TRequest, TResponse>(context.Method) is { } forward
            ? await forward.ServeAsync(request, context, continuation).ConfigureAwait(false)
            : await continuation(request, context).ConfigureAwait(false);
    }

    /// <summary>
    /// Passes to the handler only what its caller may do; and that there is no topic of the name it does not say by a
    /// copy that may be old.
    /// </summary>
    private async ValueTask DemandAsync<TRequest>(TRequest request, ServerCallContext context)
    {
        await access
            .DecideAsync(
                () =>
                {
                    Demand(request, context);
                    return ValueTask.FromResult(true);
                },
                context.CancellationToken
            )
            .ConfigureAwait(false);
        if (RpcRules.Of(context.Method).TopicOf?.Invoke((IMessage)request!) is { Length: not 0 } topic)
            await access.LookForAsync(topic, context.CancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Again, behind the gate and the body, which have asked where the request was long: what it names is known for
    /// sure now.
    /// </summary>
    private void Demand<TRequest>(TRequest request, ServerCallContext context)
    {
        RpcRule rule = RpcRules.Of(context.Method);
        if (rule.TopicOf is { } topicOf)
            rule.Demand(access, CallPrincipal.Of(context), topicOf((IMessage)request!));
    }

    /// <summary>
    /// The error for the client; null when the exception itself is that error, or when it is a defect, which is logged.
    /// </summary>
    private RpcException? Explain(Exception thrown, ServerCallContext context)
    {
        switch (thrown)
        {
            case BrokerException refused:
                return ControlErrors.Make(refused.Code, refused.Message, refused);
            case RpcException told when told.Trailers.Get(ControlErrors.CodeTrailer) is not null:
                return null;
            case OperationCanceledException:
            // What is thrown then is a consequence.
            case not null when context.CancellationToken.IsCancellationRequested:
                return stopping.IsCancellationRequested
                    ? ControlErrors.Make(ErrorCode.ShuttingDown, "The broker is stopping.", thrown)
                    : new RpcException(new Status(StatusCode.Cancelled, "The client ended the call.", thrown));
            case RpcException:
                return null;
            case IOException e:
                ErrorCode code = DiskError.IsFull(e) ? ErrorCode.DiskFull : ErrorCode.Internal;
                ServerLog.CallFailed(logger, e, context.Method, ControlErrors.StatusOf(code));
                return ControlErrors.Make(code, $"Nothing was done, or not all: {DiskError.Describe(e)}.", e);
            default:
                ServerLog.CallFailed(logger, thrown!, context.Method, StatusCode.Unknown);
                return new RpcException(
                    new Status(
                        StatusCode.Unknown,
                        "The broker failed to serve the call; its log has the cause.",
                        thrown
                    )
                );
        }
    }
}
