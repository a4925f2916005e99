using LightQ.Bench.Checks;
using LightQ.Client;

namespace LightQ.Bench.Load;

/// <summary>Awaits the ack of every message, with a fixed number of them under way.</summary>
internal sealed class LightQAckedProducer(LightQClient client, Producer producer, int size, int inFlight)
    : ILoadProducer
{
    private readonly MessagePattern _pattern = new(size);

    public async Task ProduceAsync(long messages, CancellationToken cancellationToken)
    {
        // Acks come in the order of publishing, so the oldest is always the one to wait for.
        var acks = new ValueTask<PublishAck>[inFlight];
        for (long next = 0; next < messages; next++)
        {
            int slot = (int)(next % inFlight);
            if (next >= inFlight)
                await acks[slot];
#pragma warning disable CA2012 // Every slot is awaited exactly once, before it is used again or behind the loop.
            acks[slot] = producer.PublishAsync(_pattern.Body(next), cancellationToken: cancellationToken);
#pragma warning restore CA2012
        }
        for (long left = Math.Max(0, messages - inFlight); left < messages; left++)
            await acks[(int)(left % inFlight)];
    }

    public async ValueTask DisposeAsync()
    {
        await producer.DisposeAsync();
        await client.DisposeAsync();
    }
}
