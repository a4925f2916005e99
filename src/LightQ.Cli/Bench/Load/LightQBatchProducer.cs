using LightQ.Client;

namespace LightQ.Cli.Bench.Load;

/// <summary>Publishes whole batches.</summary>
internal sealed class LightQBatchProducer(LightQClient client, Producer producer, int size) : ILoadProducer
{
    private readonly MessagePattern _pattern = new(size);

    public async Task ProduceAsync(long messages, CancellationToken cancellationToken)
    {
        using BatchBuilder batch = producer.CreateBatch();
        long next = 0;
        while (next < messages)
        {
            next = Fill(batch, next, messages);
            while (!producer.TryPublish(batch))
                await producer.WaitForRoomAsync(cancellationToken);
        }
        await producer.FlushAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await producer.DisposeAsync();
        await client.DisposeAsync();
    }

    private long Fill(BatchBuilder batch, long next, long messages)
    {
        while (next < messages && batch.TryAdd(_pattern.Body(next)))
            next++;
        return next;
    }
}
