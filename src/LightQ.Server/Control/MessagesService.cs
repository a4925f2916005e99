using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using Right = LightQ.Broker.Users.Right;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Messages</c>.</summary>
/// <param name="broker">The engine.</param>
/// <param name="access">Decides which callers may publish and consume.</param>
/// <param name="calls">Keeps account of the calls that are streams.</param>
/// <param name="fetchers">Serves the calls that fetch and settle.</param>
/// <param name="maxMessageBytes">The largest message of any topic.</param>
/// <param name="time">The clock.</param>
/// <param name="events">Is told what was published again.</param>
/// <param name="nodes">Has other nodes answer for what they lead; null where there is no cluster.</param>
internal sealed class MessagesService(
    LightQBroker broker,
    AccessControl access,
    MessageCalls calls,
    Fetchers fetchers,
    int maxMessageBytes,
    TimeProvider time,
    ISecurityEvents events,
    INodes? nodes = null
) : Protocol.Control.Messages.MessagesBase
{
    private readonly PublishOnce _once = new(broker, maxMessageBytes, time);

    private Republisher? _republisher;

    /// <summary>Publishes stored messages again.</summary>
    public Republisher Republisher => _republisher ??= new(nodes, access, Browse, Publish);

    public override Task<PublishResponse> Publish(PublishRequest request, ServerCallContext context) =>
        _once.RunAsync(request, CallPrincipal.Of(context), context.CancellationToken);

    public override Task PublishStream(
        IAsyncStreamReader<PublishStreamRequest> requestStream,
        IServerStreamWriter<PublishStreamResponse> responseStream,
        ServerCallContext context
    )
    {
        CallAccess rights = CallAccess.Of(context, access);
        return calls.RunAsync(
            context,
            (id, opened) =>
                new PublishCall(broker, rights, maxMessageBytes, time, id, context, calls.NewAccount(context), opened),
            call => call.RunAsync(requestStream, responseStream)
        );
    }

    public override Task Consume(
        IAsyncStreamReader<ConsumeRequest> requestStream,
        IServerStreamWriter<ConsumeResponse> responseStream,
        ServerCallContext context
    )
    {
        CallAccess rights = CallAccess.Of(context, access);
        return calls.RunAsync(
            context,
            (id, opened) =>
                new ConsumeCall(broker, rights, time, calls.Time, id, context, calls.NewAccount(context), opened),
            call => call.RunAsync(requestStream, responseStream)
        );
    }

    public override Task<FetchResponse> Fetch(FetchRequest request, ServerCallContext context) =>
        fetchers.FetchAsync(request, context);

    public override Task<SettleResponse> Settle(SettleRequest request, ServerCallContext context) =>
        Task.FromResult(fetchers.Settle(request, context));

    public override async Task<BrowseResponse> Browse(BrowseRequest request, ServerCallContext context)
    {
        Topic topic = broker.GetTopic(request.Topic);
        BrowseRequests.Check(request, topic);
        long now = UnixMicroseconds.From(time.GetUtcNow());
        return await BrowseWalk
            .RunAsync(
                request,
                BrowseRequests.PartitionsOf(request, topic),
                one => BrowsePage.ReadAsync(topic.GetPartition(one.Partition), one, now, context.CancellationToken)
            )
            .ConfigureAwait(false);
    }

    public override async Task<ListScheduledResponse> ListScheduled(
        ListScheduledRequest request,
        ServerCallContext context
    )
    {
        Topic topic = broker.GetTopic(request.Topic);
        ScheduledRequests.Check(request, topic);
        return await ScheduledRequests
            .WalkAsync(
                request,
                topic,
                one => ScheduledPage.ReadAsync(topic.GetPartition(one.Partition), one, context.CancellationToken)
            )
            .ConfigureAwait(false);
    }

    public override async Task<CancelScheduledResponse> CancelScheduled(
        CancelScheduledRequest request,
        ServerCallContext context
    )
    {
        ScheduledRequests.Check(request);
        IReadOnlyList<bool> cancelled = await broker
            .GetTopic(request.Topic)
            .GetPartition(request.Partition)
            .CancelAsync(request.Offsets, context.CancellationToken)
            .ConfigureAwait(false);
        return new CancelScheduledResponse
        {
            Outcomes = { cancelled.Select(static c => c ? CancelOutcome.Cancelled : CancelOutcome.NotScheduled) },
        };
    }

    public override async Task<RepublishResponse> Republish(RepublishRequest request, ServerCallContext context)
    {
        string target = request.TargetTopic.Length != 0 ? request.TargetTopic : request.Topic;
        Republisher.Demand(context, Right.Publish, target);
        MessageEdits.Check(request.Edit);
        PublishedMessage stored = await Republisher
            .ReadAsync(request.Topic, request.Partition, request.Offset, context)
            .ConfigureAwait(false);
        PublishResponse published = await Republisher
            .PublishAsync(
                target,
                request.HasTargetPartition ? request.TargetPartition : null,
                MessageEdits.Apply(stored, request.Edit),
                context
            )
            .ConfigureAwait(false);
        MessagePosition position = published.Positions[0];
        await events
            .RaiseAsync(
                new SecurityEvent(
                    SecurityAction.MessageRepublished,
                    CallPrincipal.Of(context).ToString(),
                    Origin.Control(context),
                    $"{request.Topic}/{request.Partition}/{request.Offset}",
                    $"as {target}/{position.Partition}/{position.Offset}"
                )
            )
            .ConfigureAwait(false);
        return new RepublishResponse
        {
            Topic = target,
            Position = position,
            Durability = published.Durability,
        };
    }
}
