using LightQ.Bench.Checks;
using LightQ.Client;

namespace LightQ.Bench.Load;

/// <summary>Publishes message by message without waiting for acks.</summary>
internal sealed class LightQMessageProducer(LightQClient client, Producer producer, int size) : ILoadProducer
{
    private readonly MessagePattern _pattern = new(size);

    public async Task ProduceAsync(long messages, CancellationToken cancellationToken)
    {
        long next = 0;
        while ((next = Publish(next, messages)) < messages)
            await producer.WaitForRoomAsync(cancellationToken);
        await producer.FlushAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await producer.DisposeAsync();
        await client.DisposeAsync();
    }

    private long Publish(long next, long messages)
    {
        while (next < messages && producer.TryPublish(_pattern.Body(next)))
            next++;
        return next;
    }
}
