using System.Diagnostics;
using LightQ.Client;

namespace LightQ.ClusterTests.Handovers;

/// <summary>A named producer on one partition, which publishes one message after the other.</summary>
internal sealed class Publishing(string topic, int partition)
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
            await producer.PublishAsync("body"u8.ToArray(), cancellationToken: CancellationToken.None);
            TimeSpan since = Stopwatch.GetElapsedTime(last);
            last = Stopwatch.GetTimestamp();
            Interlocked.Increment(ref _acknowledged);
            lock (_lock)
                _longest = since > _longest ? since : _longest;
        }
    }
}
