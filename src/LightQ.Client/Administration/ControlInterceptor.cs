using Grpc.Core;
using Grpc.Core.Interceptors;

namespace LightQ.Client.Administration;

/// <summary>Gives each call the client's token, and turns its failure into an exception of the SDK.</summary>
internal sealed class ControlInterceptor(ControlLogin login, ControlErrors errors) : Interceptor
{
    private static readonly Task<Metadata> NoHeaders = Task.FromResult(new Metadata());

    /// <summary>The SDK takes the response and nothing else of the call; its token ends it.</summary>
    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncUnaryCallContinuation<TRequest, TResponse> continuation
    ) => new(CallAsync(request, context, continuation), NoHeaders, () => Status.DefaultSuccess, () => [], () => { });

    public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncServerStreamingCallContinuation<TRequest, TResponse> continuation
    )
    {
        var responses = new ControlResponses<TResponse>(
            login,
            errors,
            token => continuation(request, With(context, token)),
            context.Options.CancellationToken
        );
        return new(responses, NoHeaders, () => Status.DefaultSuccess, () => [], responses.Dispose);
    }

    private async Task<TResponse> CallAsync<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncUnaryCallContinuation<TRequest, TResponse> continuation
    )
        where TRequest : class
        where TResponse : class
    {
        CancellationToken cancellationToken = context.Options.CancellationToken;
        string? refused = null;
        while (true)
        {
            string? token = await login.GetTokenAsync(refused, cancellationToken).ConfigureAwait(false);
            using AsyncUnaryCall<TResponse> call = continuation(request, With(context, token));
            try
            {
                return await call.ResponseAsync.ConfigureAwait(false);
            }
            catch (RpcException e)
                when (e.StatusCode == StatusCode.Unauthenticated && refused is null && login.CanRenew)
            {
                refused = token;
            }
            catch (RpcException e)
            {
                throw errors.Translate(e, ControlErrors.HasAnswered(call.ResponseHeadersAsync), cancellationToken);
            }
        }
    }

    private static ClientInterceptorContext<TRequest, TResponse> With<TRequest, TResponse>(
        ClientInterceptorContext<TRequest, TResponse> context,
        string? token
    )
        where TRequest : class
        where TResponse : class
    {
        if (token is null)
            return context;
        var headers = new Metadata { { "authorization", $"Bearer {token}" } };
        return new(context.Method, context.Host, context.Options.WithHeaders(headers));
    }
}
