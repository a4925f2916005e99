using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Has the node give a topic replicas that has its messages.</summary>
internal sealed class ReplicateForward(NodeCalls calls, Method<ReplicateTopicRequest, ReplicateTopicResponse> method)
    : Forward<ReplicateTopicRequest, ReplicateTopicResponse>
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    public override async Task<ReplicateTopicResponse> ServeAsync(
        ReplicateTopicRequest request,
        ServerCallContext context,
        UnaryServerMethod<ReplicateTopicRequest, ReplicateTopicResponse> local
    )
    {
        if (
            ForwardedCall.Of(context) is null
            && calls.Broker.TryGetTopic(request.Name, out Topic? topic)
            && topic is { Settings.IsReplicated: false, IsElsewhere: true }
        )
        {
            ReplicateTopicResponse response = await calls
                .CallAsync(
                    calls.Leaders.Find(topic, 0),
                    method,
                    request,
                    topic.Partitions.Select(p => p.Index),
                    Longest,
                    context
                )
                .ConfigureAwait(false);
            // What a client is told is done, it finds at the node that has told it.
            response.Done = response.Done && await TryCatchUpAsync(context.CancellationToken).ConfigureAwait(false);
            return response;
        }
        return await local(request, context).ConfigureAwait(false);
    }

    private async Task<bool> TryCatchUpAsync(CancellationToken cancellationToken)
    {
        try
        {
            await calls.Broker.Decisions.ReadOnAsync(seen: 0, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (BrokerException)
        {
            return false;
        }
    }
}
