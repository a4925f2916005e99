using Grpc.Core;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using LightQ.Server.Messages;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Lists delayed messages at the nodes that lead their partitions, one after the other.</summary>
internal sealed class ScheduledForward(NodeCalls calls) : Forward<ListScheduledRequest, ListScheduledResponse>
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    private static readonly Method<ListScheduledRequest, ListScheduledResponse> Method = NodeMethod.Of<
        ListScheduledRequest,
        ListScheduledResponse
    >(MethodType.Unary, "/lightq.control.v1.Messages/ListScheduled");

    public override async Task<ListScheduledResponse> ServeAsync(
        ListScheduledRequest request,
        ServerCallContext context,
        UnaryServerMethod<ListScheduledRequest, ListScheduledResponse> local
    )
    {
        if (!calls.Broker.TryGetTopic(request.Topic, out Topic? topic))
            return await local(request, context).ConfigureAwait(false); // It says that there is none.
        if (ForwardedCall.Of(context) is { } forwarded)
        {
            return await HeldPartitions
                .RunAsync(topic, forwarded.Partitions, () => local(request, context))
                .ConfigureAwait(false);
        }
        ScheduledRequests.Check(request, topic);
        return await ScheduledRequests.WalkAsync(request, topic, AskAsync).ConfigureAwait(false);

        async Task<ListScheduledResponse> AskAsync(ListScheduledRequest one)
        {
            string node = await calls
                .Leaders.OfAsync(topic, one.Partition, context.CancellationToken)
                .ConfigureAwait(false);
            return node == calls.Leaders.Node
                ? await HeldPartitions.RunAsync(topic, [one.Partition], () => local(one, context)).ConfigureAwait(false)
                : await calls.CallAsync(node, Method, one, [one.Partition], Longest, context).ConfigureAwait(false);
        }
    }
}
