using LightQ.Client;
using LightQ.Protocol.Records;

namespace LightQ.Cli.Bench.Load;

/// <summary>Consumes from a topic, whole batches or message by message, on the thread that receives.</summary>
internal sealed class LightQConsumer : ILoadConsumer
{
    private readonly LightQClient _client;
    private readonly string _topic;
    private readonly bool _batches;
    private readonly ConsumeOptions _options;
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public LightQConsumer(LightQClient client, string topic, bool fromEarliest, bool batches)
    {
        _client = client;
        _topic = topic;
        _batches = batches;
        _options = new ConsumeOptions
        {
            Start = fromEarliest ? StartPosition.Earliest : StartPosition.Latest,
            Scheduling = ContinuationScheduling.Inline,
            OnSubscribed = _ => _subscribed.TrySetResult(),
        };
    }

    public Task Subscribed => _subscribed.Task;

    public async Task ConsumeAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        try
        {
            await (_batches ? ConsumeBatchesAsync(check, cancellationToken) : ConsumeMessagesAsync(check, cancellationToken));
        }
        catch (Exception e)
        {
            // Who waits for the subscription must learn that there will be none.
            _subscribed.TrySetException(e);
            throw;
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private static void Take(DeliveryCheck check, MessageBatch batch)
    {
        foreach (RecordView record in batch)
            check.Take(record.Body);
    }

    private async Task ConsumeBatchesAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        await foreach (MessageBatch batch in _client.ConsumeBatchesAsync(_topic, _options).WithCancellation(cancellationToken))
        {
            Take(check, batch);
            if (check.IsComplete)
                break;
        }
    }

    private async Task ConsumeMessagesAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        await foreach (Message message in _client.ConsumeAsync(_topic, _options).WithCancellation(cancellationToken))
        {
            check.Take(message.BodySpan);
            if (check.IsComplete)
                break;
        }
    }
}
