using System.Diagnostics;
using LightQ.Bench.Checks;
using LightQ.Client;

namespace LightQ.Bench.Load;

/// <summary>Consumes from a topic, whole batches or message by message, on the thread that receives.</summary>
internal sealed class LightQConsumer : ILoadConsumer, IRoundTrip
{
    private readonly LightQClient _client;
    private readonly string _topic;
    private readonly bool _batches;
    private readonly ConsumeOptions _options;
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <param name="client">Disposed with the consumer.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="options">Where to begin.</param>
    /// <param name="batches">Whether whole batches are consumed.</param>
    public LightQConsumer(LightQClient client, string topic, ConsumeOptions options, bool batches)
    {
        _client = client;
        _topic = topic;
        _batches = batches;
        _options = options with
        {
            Scheduling = ContinuationScheduling.Inline,
            OnSubscribed = _ => _subscribed.TrySetResult(),
        };
    }

    public Task Subscribed => _subscribed.Task;

    public async Task ConsumeAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        try
        {
            await (
                _batches
                    ? ConsumeBatchesAsync(check, cancellationToken)
                    : ConsumeMessagesAsync(check, cancellationToken)
            );
        }
        catch (Exception e)
        {
            // The caller that waits for the subscription must learn that there will be none.
            _subscribed.TrySetException(e);
            throw;
        }
    }

    public Task<TimeSpan> PingAsync(CancellationToken cancellationToken) => _client.PingAsync(cancellationToken);

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    // One look at the clock a batch: one a message would slow down what is measured.
    private static void Take(DeliveryCheck check, MessageBatch batch)
    {
        long received = Stopwatch.GetTimestamp();
        foreach (RecordView record in batch)
            check.Take(record.Body, received);
    }

    private async Task ConsumeBatchesAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        await foreach (MessageBatch batch in _client.ConsumeBatchesAsync(_topic, _options, cancellationToken))
        {
            Take(check, batch);
            if (check.IsComplete)
                break;
        }
    }

    private async Task ConsumeMessagesAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        await foreach (Message message in _client.ConsumeAsync(_topic, _options, cancellationToken))
        {
            check.Take(message.BodySpan);
            if (check.IsComplete)
                break;
        }
    }
}
