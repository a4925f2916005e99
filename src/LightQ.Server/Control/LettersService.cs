using Google.Protobuf;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Logs;
using LightQ.Protocol.Control;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Letters</c> to the other nodes of the cluster.</summary>
internal sealed class LettersService(LightQBroker broker) : Letters.LettersBase
{
    private readonly RecentLetters _recent = new();

    public override async Task<AppendLettersResponse> AppendLetters(
        AppendLettersRequest request,
        ServerCallContext context
    )
    {
        Topic dead = broker.GetTopic(request.DeadLetterTopic);
        dead.GetPartition(0);
        await _recent
            .StoreOnceAsync(dead.Id, request.Batch.Span, () => StoreAsync(dead.Name, request))
            .WaitAsync(context.CancellationToken)
            .ConfigureAwait(false);
        ITopicLog log = dead.GetPartition(0).Log;
        return new AppendLettersResponse { StartOffset = log.StartOffset, EndOffset = log.ReadableOffset };
    }

    public override async Task<ReadLettersResponse> ReadLetters(ReadLettersRequest request, ServerCallContext context)
    {
        LetterPage page = await LetterPage
            .ReadHereAsync(broker.GetTopic(request.DeadLetterTopic), request.Offset, context.CancellationToken)
            .ConfigureAwait(false);
        return new ReadLettersResponse
        {
            Batches = { page.Batches.Select(batch => UnsafeByteOperations.UnsafeWrap(batch)) },
            NextOffset = page.Next,
            StartOffset = page.Start,
            EndOffset = page.End,
        };
    }

    /// <summary>Goes on when the node that called has gone: it comes again, and then finds it done.</summary>
    private async Task StoreAsync(string dead, AppendLettersRequest request)
    {
        using var producer = new InternalProducer(broker, dead, Durability.Fsync, partition: 0);
        await producer.PublishAsync(request.Batch.Span, (int)request.Count).ConfigureAwait(false);
    }
}
