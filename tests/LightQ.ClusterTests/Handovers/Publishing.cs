using System.Diagnostics;
using LightQ.Client;

namespace LightQ.ClusterTests.Handovers;

/// <summary>A named producer on one partition, which publishes one message after the other.</summary>
/// <param name="topic">The topic.</param>
/// <param name="partition">The partition.</param>
/// <param name="bodyBytes">How long the first bodies are.</param>
/// <param name="longBodies">How many of them there are; the others are short.</param>
internal sealed class Publishing(string topic, int partition, int bodyBytes = 0, int longBodies = 0)
{
    private readonly Lock _lock = new();
    private TimeSpan _longest;
    private long _acknowledged;

    public long Acknowledged => Volatile.Read(ref _acknowledged);

    /// <summary>The longest time between two acks since this was asked last.</summary>
    public TimeSpan TakeSilence()
    {
        lock (_lock)
        {
            TimeSpan longest = _longest;
            _longest = TimeSpan.Zero;
            return longest;
        }
    }

    public async Task RunAsync(LightQClient client, CancellationToken stop)
    {
        await using Producer producer = await client.CreateProducerAsync(
            topic,
            new ProducerOptions { Name = FormattableString.Invariant($"p{partition}"), Partition = partition },
            CancellationToken.None
        );
        long last = Stopwatch.GetTimestamp();
        while (!stop.IsCancellationRequested)
        {
            byte[] body = Acknowledged < longBodies ? new byte[bodyBytes] : "body"u8.ToArray();
            new Random((int)Acknowledged).NextBytes(body);
            await producer.PublishAsync(body, cancellationToken: CancellationToken.None);
            TimeSpan since = Stopwatch.GetElapsedTime(last);
            last = Stopwatch.GetTimestamp();
            Interlocked.Increment(ref _acknowledged);
            lock (_lock)
                _longest = since > _longest ? since : _longest;
        }
    }
}
