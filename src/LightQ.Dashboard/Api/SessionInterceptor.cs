using Grpc.Core;
using Grpc.Core.Interceptors;

namespace LightQ.Dashboard.Api;

/// <summary>Shows the session's token with every call, and ends a call that gets no answer.</summary>
internal sealed class SessionInterceptor(Session session) : Interceptor
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncUnaryCallContinuation<TRequest, TResponse> continuation
    )
    {
        CallOptions options = context.Options.WithDeadline(context.Options.Deadline ?? DateTime.UtcNow + Patience);
        return continuation(request, Shown(context, options));
    }

    /// <summary>A stream lasts as long as it is read.</summary>
    public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncServerStreamingCallContinuation<TRequest, TResponse> continuation
    ) => continuation(request, Shown(context, context.Options));

    private ClientInterceptorContext<TRequest, TResponse> Shown<TRequest, TResponse>(
        ClientInterceptorContext<TRequest, TResponse> context,
        CallOptions options
    )
        where TRequest : class
        where TResponse : class
    {
        if (session.Token is { } token)
            options = options.WithHeaders(new Metadata { { "authorization", "Bearer " + token } });
        return new ClientInterceptorContext<TRequest, TResponse>(context.Method, context.Host, options);
    }
}
