using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Messages</c>.</summary>
/// <param name="broker">The engine.</param>
/// <param name="access">Decides which callers may publish and consume.</param>
/// <param name="calls">Keeps account of the calls that are streams.</param>
/// <param name="fetchers">Serves the calls that fetch and settle.</param>
/// <param name="maxMessageBytes">The largest message of any topic.</param>
/// <param name="time">The clock.</param>
internal sealed class MessagesService(
    LightQBroker broker,
    AccessControl access,
    MessageCalls calls,
    Fetchers fetchers,
    int maxMessageBytes,
    TimeProvider time
) : Protocol.Control.Messages.MessagesBase
{
    public override async Task<PublishResponse> Publish(PublishRequest request, ServerCallContext context)
    {
        var open = new OpenProducer { Topic = request.Topic, AckLevel = request.AckLevel };
        if (request.HasPartition)
            open.Partition = request.Partition;
        using PublishSession session = await PublishSession
            .OpenAsync(broker, connectionId: 0, time, open, maxMessageBytes)
            .ConfigureAwait(false);
        await session.AddAsync(request.Messages, null, context.CancellationToken).ConfigureAwait(false);
        await session.SendAsync(context.CancellationToken).ConfigureAwait(false);
        PendingPublish? done;
        while (session.TryTakeAnswered(out done) && done is null)
            await session.Progress.WaitAsync(context.CancellationToken).ConfigureAwait(false);
        return new PublishResponse
        {
            Positions = { done!.Ack.Positions },
            Durability = (DurabilityLevel)session.Opened.AckLevel,
        };
    }

    public override Task PublishStream(
        IAsyncStreamReader<PublishStreamRequest> requestStream,
        IServerStreamWriter<PublishStreamResponse> responseStream,
        ServerCallContext context
    )
    {
        CallAccess rights = CallAccess.Of(context, access);
        return calls.RunAsync(
            context,
            (id, opened) => new PublishCall(broker, rights, maxMessageBytes, time, id, context, opened),
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
            (id, opened) => new ConsumeCall(broker, rights, time, calls.Time, id, context, opened),
            call => call.RunAsync(requestStream, responseStream)
        );
    }

    public override Task<FetchResponse> Fetch(FetchRequest request, ServerCallContext context) =>
        fetchers.FetchAsync(request, context);

    public override Task<SettleResponse> Settle(SettleRequest request, ServerCallContext context) =>
        Task.FromResult(fetchers.Settle(request, context));
}
