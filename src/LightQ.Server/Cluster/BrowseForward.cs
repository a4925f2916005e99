using Grpc.Core;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using LightQ.Server.Messages;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Browses the partitions of a topic at the nodes that lead them, one after the other.</summary>
internal sealed class BrowseForward(NodeCalls calls) : Forward<BrowseRequest, BrowseResponse>
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    private static readonly Method<BrowseRequest, BrowseResponse> Method = NodeMethod.Of<BrowseRequest, BrowseResponse>(
        MethodType.Unary,
        "/lightq.control.v1.Messages/Browse"
    );

    public override async Task<BrowseResponse> ServeAsync(
        BrowseRequest request,
        ServerCallContext context,
        UnaryServerMethod<BrowseRequest, BrowseResponse> local
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
        BrowseRequests.Check(request, topic);
        return await BrowseWalk
            .RunAsync(request, BrowseRequests.PartitionsOf(request, topic), AskAsync)
            .ConfigureAwait(false);

        async Task<BrowseResponse> AskAsync(BrowseRequest one)
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
