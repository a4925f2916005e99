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
    private readonly PublishOnce _once = new(broker, maxMessageBytes, time);

    public override Task<PublishResponse> Publish(PublishRequest request, ServerCallContext context) =>
        _once.RunAsync(request, context.CancellationToken);

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
