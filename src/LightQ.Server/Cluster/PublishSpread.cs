using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>
/// Serves a PublishStream call whose messages go to partitions of several nodes: one request after the other, each
/// message to the leader of its partition.
/// </summary>
/// <remarks>
/// The next request waits for the answer to the one before, or messages of one key could overtake each other on their
/// way. Who wants more at a time opens a call for each partition.
/// </remarks>
internal sealed class PublishSpread(PublishForward publish, PublishOnce here, AccessControl access)
{
    /// <summary>Whether a call can be served like this; else it is for this node to refuse.</summary>
    public static bool Fits(PublishStreamRequest first) =>
        first.Open is { ProducerName.Length: 0 } && System.Enum.IsDefined(first.Open.AckLevel);

    /// <summary>Serves a call.</summary>
    public async Task ServeAsync(
        Topic topic,
        IAsyncStreamReader<PublishStreamRequest> requests,
        IServerStreamWriter<PublishStreamResponse> responses,
        ServerCallContext context
    )
    {
        CallAccess rights = CallAccess.Of(context, access);
        OpenProducer? open = null;
        while (await requests.MoveNext(context.CancellationToken).ConfigureAwait(false))
        {
            PublishStreamRequest request = requests.Current;
            if (open is null)
            {
                open = request.Open;
                await responses.WriteAsync(new() { Opened = Describe(topic) }).ConfigureAwait(false);
                if (request.Messages.Count == 0)
                    continue;
            }
            else if (request.Open is not null)
            {
                throw Refuse("A request behind the first has an open; one call has one producer.");
            }
            if (request.HasFirstSequence)
            {
                throw Refuse(
                    "first_sequence is set, and the producer has no name; only a named producer numbers its messages."
                );
            }
            rights.Demand(topic.Name);
            PublishResponse done = await publish
                .ServeAsync(
                    new()
                    {
                        Topic = topic.Name,
                        AckLevel = open.AckLevel,
                        Messages = { request.Messages },
                    },
                    context,
                    (part, call) => here.RunAsync(part, CallPrincipal.Of(call), call.CancellationToken)
                )
                .ConfigureAwait(false);
            await responses
                .WriteAsync(new() { Ack = new PublishAck { Positions = { done.Positions } } })
                .ConfigureAwait(false);
        }
    }

    /// <summary>Several nodes lead partitions of topics with replicas only.</summary>
    private ProducerOpened Describe(Topic topic) =>
        new()
        {
            Partitions = topic.Settings.Partitions,
            AckLevel = DurabilityLevel.Replicated,
            MaxMessageBytes = (ulong)Math.Min(here.MaxMessageBytes, topic.Settings.MaxMessageBytes),
        };

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, problem);
}
