using LightQ.Client;

namespace LightQ.Bench.Load;

/// <summary>Publishes single messages; on a quiet connection the calling thread sends.</summary>
internal sealed class LightQSinglePublisher(LightQClient client, Producer producer) : ISinglePublisher, IRoundTrip
{
    public void Send(ReadOnlySpan<byte> body)
    {
        // A full window counts as latency: the message was due.
        while (!producer.TryPublish(body))
            Thread.Sleep(0);
    }

    public Task<TimeSpan> PingAsync(CancellationToken cancellationToken) => client.PingAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await producer.DisposeAsync();
        await client.DisposeAsync();
    }
}
