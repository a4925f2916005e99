using Grpc.Core;

namespace LightQ.Client.Administration;

/// <summary>
/// Calls the broker that answered last, and where it does not answer the others in turn: reads whenever there was no
/// answer, changes only when no connection could be made, so that none is made twice.
/// </summary>
/// <param name="channel">The brokers.</param>
/// <param name="options">The client's options, for what is said when none of them answers.</param>
/// <param name="callsOf">The calls to one of them.</param>
internal sealed class FailoverInvoker(
    ControlChannel channel,
    LightQClientOptions options,
    Func<ControlNode, CallInvoker> callsOf
) : CallInvoker
{
    private static readonly Task<Metadata> NoHeaders = Task.FromResult(new Metadata());
    private static readonly string[] Reads = ["Get", "List", "Describe", "Explain", "Watch", "WhoAmI"];

    /// <summary>The calls to the only broker, while there is no other.</summary>
    private CallInvoker? Only => channel.Brokers.Count == 1 ? callsOf(channel.NodeAt(0)) : null;

    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method,
        string? host,
        CallOptions callOptions,
        TRequest request
    ) =>
        Only?.AsyncUnaryCall(method, host, callOptions, request)
        ?? new(
            TryAsync(
                method.Name,
                async calls =>
                {
                    using AsyncUnaryCall<TResponse> call = calls.AsyncUnaryCall(method, host, callOptions, request);
                    return await call.ResponseAsync.ConfigureAwait(false);
                }
            ),
            NoHeaders,
            static () => Status.DefaultSuccess,
            static () => [],
            static () => { }
        );

    public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method,
        string? host,
        CallOptions callOptions,
        TRequest request
    )
    {
        if (Only is { } only)
            return only.AsyncServerStreamingCall(method, host, callOptions, request);
        var responses = new FailoverResponses<TResponse>(read =>
            TryAsync(
                method.Name,
                async calls =>
                {
                    AsyncServerStreamingCall<TResponse> call = calls.AsyncServerStreamingCall(
                        method,
                        host,
                        callOptions,
                        request
                    );
                    try
                    {
                        return (call, await call.ResponseStream.MoveNext(read).ConfigureAwait(false));
                    }
                    catch
                    {
                        call.Dispose();
                        throw;
                    }
                }
            )
        );
        return new(responses, NoHeaders, static () => Status.DefaultSuccess, static () => [], responses.Dispose);
    }

    public override TResponse BlockingUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method,
        string? host,
        CallOptions callOptions,
        TRequest request
    ) => throw NotUsed();

    public override AsyncClientStreamingCall<TRequest, TResponse> AsyncClientStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method,
        string? host,
        CallOptions callOptions
    ) => throw NotUsed();

    public override AsyncDuplexStreamingCall<TRequest, TResponse> AsyncDuplexStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method,
        string? host,
        CallOptions callOptions
    ) => throw NotUsed();

    private static NotSupportedException NotUsed() => new("The control plane has no calls of this kind in the client.");

    private static bool MayTryNext(string method, LightQException e) =>
        e.IsUnsent
        || (
            e.Code is ErrorCode.Unavailable or ErrorCode.ShuttingDown
            && Array.Exists(Reads, read => method.StartsWith(read, StringComparison.Ordinal))
        );

    private async Task<T> TryAsync<T>(string method, Func<CallInvoker, Task<T>> call)
    {
        var failures = new List<LightQException>();
        int count = channel.Brokers.Count;
        int first = channel.Current;
        for (int i = 0; i < count; i++)
        {
            int node = (first + i) % count;
            try
            {
                T answer = await call(callsOf(channel.NodeAt(node))).ConfigureAwait(false);
                channel.Current = node;
                return answer;
            }
            catch (LightQException e) when (MayTryNext(method, e))
            {
                failures.Add(e);
            }
        }
        throw new LightQException(
            failures[0].Code,
            $"No broker of {options} has answered. {string.Join(' ', failures.Select(static e => e.Message))}",
            failures[0]
        );
    }
}
