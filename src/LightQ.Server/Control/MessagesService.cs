using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Messages</c>.</summary>
/// <param name="broker">The engine.</param>
/// <param name="calls">Keeps account of the calls that are streams.</param>
/// <param name="maxMessageBytes">The largest message of any topic.</param>
/// <param name="time">The clock.</param>
internal sealed class MessagesService(LightQBroker broker, MessageCalls calls, int maxMessageBytes, TimeProvider time)
{
    public RuledServiceBuilder Bind(RuledServiceBuilder service) => service
        .Unary<PublishRequest, PublishResponse>("Publish", PublishAsync)
        .DuplexStreaming<PublishStreamRequest, PublishStreamResponse>("PublishStream", PublishStreamAsync)
        .DuplexStreaming<ConsumeRequest, ConsumeResponse>("Consume", ConsumeAsync);

    private async Task<PublishResponse> PublishAsync(PublishRequest request, GrpcServerCallContext context)
    {
        var open = new OpenProducer { Topic = request.Topic, AckLevel = request.AckLevel };
        if (request.HasPartition)
            open.Partition = request.Partition;
        using PublishSession session = await PublishSession.OpenAsync(broker, connectionId: 0, time, open, maxMessageBytes).ConfigureAwait(false);
        await session.AddAsync(request.Messages, null, context.CancellationToken).ConfigureAwait(false);
        await session.SendAsync(context.CancellationToken).ConfigureAwait(false);
        PendingPublish? done;
        while (session.TryTakeAnswered(out done) && done is null)
            await session.Progress.WaitAsync(context.CancellationToken).ConfigureAwait(false);
        return new PublishResponse { Positions = { done!.Ack.Positions }, Durability = (DurabilityLevel)session.Opened.AckLevel };
    }

    private Task PublishStreamAsync(
        IAsyncEnumerable<PublishStreamRequest> requests, GrpcResponseStream<PublishStreamResponse> responses, CallAccess access, GrpcServerCallContext context) =>
        calls.RunAsync(context, (id, opened) => new PublishCall(broker, access, maxMessageBytes, time, id, context, opened), call => call.RunAsync(requests, responses));

    private Task ConsumeAsync(
        IAsyncEnumerable<ConsumeRequest> requests, GrpcResponseStream<ConsumeResponse> responses, CallAccess access, GrpcServerCallContext context) =>
        calls.RunAsync(context, (id, opened) => new ConsumeCall(broker, access, time, calls.Time, id, context, opened), call => call.RunAsync(requests, responses));
}
