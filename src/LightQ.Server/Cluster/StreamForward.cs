using Grpc.Core;
using LightQ.Broker;
using LightQ.Server.Control;
using LightQ.Server.Security;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Passes a call with two streams on to the node that leads the partitions it is about.</summary>
/// <param name="calls">Calls other nodes.</param>
/// <param name="access">Ends the call when the client's login ends; its rights are looked after there.</param>
/// <param name="method">The method.</param>
/// <param name="about">The topic and partition that the first request names; null when it names none.</param>
internal sealed class StreamForward<TRequest, TResponse>(
    NodeCalls calls,
    AccessControl access,
    Method<TRequest, TResponse> method,
    Func<TRequest, (string Topic, uint? Partition)?> about
) : IStreamForward<TRequest, TResponse>
    where TRequest : class
    where TResponse : class
{
    /// <summary>Serves a call that is about partitions of several nodes; null when none of them is served.</summary>
    public Func<
        Topic,
        PeekedRequests<TRequest>,
        IServerStreamWriter<TResponse>,
        ServerCallContext,
        DuplexStreamingServerMethod<TRequest, TResponse>,
        Task
    >? SpreadAsync { get; init; }

    public async Task ServeAsync(
        IAsyncStreamReader<TRequest> requests,
        IServerStreamWriter<TResponse> responses,
        ServerCallContext context,
        DuplexStreamingServerMethod<TRequest, TResponse> local
    )
    {
        ForwardedCall? forwarded = ForwardedCall.Of(context);
        bool hasFirst = await requests.MoveNext(context.CancellationToken).ConfigureAwait(false);
        var peeked = new PeekedRequests<TRequest>(requests, hasFirst);
        if (!hasFirst || about(requests.Current) is not (var name, var partition))
        {
            await local(peeked, responses, context).ConfigureAwait(false);
            return;
        }
        Topic topic = await access
            .DecideAsync(
                () =>
                {
                    CallAccess.Of(context, access).Demand(name);
                    return ValueTask.FromResult(calls.Broker.GetTopic(name));
                },
                context.CancellationToken
            )
            .ConfigureAwait(false);
        if (partition >= topic.Partitions.Length)
        {
            await local(peeked, responses, context).ConfigureAwait(false);
            return;
        }
        string node = calls.Leaders.Node;
        if (forwarded is null)
        {
            IEnumerable<uint> partitions = partition is { } one ? [one] : topic.Partitions.Select(p => p.Index);
            Dictionary<string, List<uint>> homes = await calls
                .Leaders.OfAsync(topic, partitions, context.CancellationToken)
                .ConfigureAwait(false);
            if (homes.Count > 1)
            {
                if (SpreadAsync is null)
                    throw Spread(topic, homes);
                await SpreadAsync(topic, peeked, responses, context, local).ConfigureAwait(false);
                return;
            }
            node = homes.Keys.First();
        }
        if (node == calls.Leaders.Node)
            await local(peeked, responses, context).ConfigureAwait(false);
        else
            await RelayAsync(node, peeked, responses, context).ConfigureAwait(false);
    }

    private static BrokerException Spread(Topic topic, Dictionary<string, List<uint>> homes) =>
        new(
            ErrorCode.NotLeader,
            $"The partitions of the topic '{topic.Name}' are led by several nodes, and a call with a stream is served "
                + $"by one: open one call for each partition and set partition, at any node. "
                + string.Join("; ", homes.Select(h => $"{h.Key} leads {string.Join(", ", h.Value)}"))
                + "."
        );

    private async Task RelayAsync(
        string node,
        PeekedRequests<TRequest> requests,
        IServerStreamWriter<TResponse> responses,
        ServerCallContext context
    )
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(context.CancellationToken);
        (AsyncDuplexStreamingCall<TRequest, TResponse> call, string address) = calls.Open(
            node,
            method,
            [],
            context,
            ended.Token
        );
        using (call)
        {
            Task<BrokerException?> login = WatchLoginAsync(CallPrincipal.Of(context), ended);
            Task sending = SendAsync(requests, call.RequestStream, ended.Token);
            try
            {
                while (await call.ResponseStream.MoveNext(ended.Token).ConfigureAwait(false))
                    await responses.WriteAsync(call.ResponseStream.Current).ConfigureAwait(false);
            }
            catch (Exception e) when (e is RpcException or OperationCanceledException)
            {
                // Whoever watches the login cancels the call first, and then says why.
                bool hasEnded = ended.IsCancellationRequested && !context.CancellationToken.IsCancellationRequested;
                if (hasEnded && await login.ConfigureAwait(false) is { } end)
                    throw end;
                if (e is RpcException refused)
                    throw NodeCalls.Explain(refused, node, address, context.CancellationToken);
                throw;
            }
            finally
            {
                await ended.CancelAsync().ConfigureAwait(false);
                await Task.WhenAll(sending, login).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    /// <summary>Passes the client's requests on; how the call ends is told by the other stream.</summary>
    private static async Task SendAsync(
        PeekedRequests<TRequest> requests,
        IClientStreamWriter<TRequest> to,
        CancellationToken cancellationToken
    )
    {
        while (await requests.MoveNext(cancellationToken).ConfigureAwait(false))
            await to.WriteAsync(requests.Current, cancellationToken).ConfigureAwait(false);
        await to.CompleteAsync().ConfigureAwait(false);
    }

    /// <summary>Ends the call when the client's login does: a logout is known here only.</summary>
    private async Task<BrokerException?> WatchLoginAsync(Principal principal, CancellationTokenSource ended)
    {
        while (true)
        {
            Task changed = access.Changed;
            if (access.EndOf(principal) is { } end)
            {
                await ended.CancelAsync().ConfigureAwait(false);
                return end;
            }
            await changed.WaitAsync(ended.Token).ConfigureAwait(false);
        }
    }
}
