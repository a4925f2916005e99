using System.Diagnostics;
using LightQ.Bench.Checks;
using LightQ.Client;

namespace LightQ.Bench.Load;

/// <summary>
/// Publishes whole batches. A message's stamp is the time when its batch was begun, so it counts as a little older than
/// it is.
/// </summary>
internal sealed class LightQBatchProducer(LightQClient client, Producer producer, int size) : ILoadProducer
{
    private readonly MessagePattern _pattern = new(size);

    /// <summary>When the first message was added, in stopwatch ticks.</summary>
    public long FirstTicks { get; private set; }

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
        long stamp = Stopwatch.GetTimestamp();
        if (next == 0)
            FirstTicks = stamp;
        while (next < messages && batch.TryAdd(_pattern.Body(next, stamp)))
            next++;
        return next;
    }
}
