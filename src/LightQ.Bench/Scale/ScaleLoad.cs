using System.Diagnostics;
using LightQ.Client;

namespace LightQ.Bench.Scale;

/// <summary>
/// Publishers and subscribers of some topics of one broker, in this process: as many messages as asked for, as fast as
/// they go.
/// </summary>
internal sealed class ScaleLoad(string server, IReadOnlyList<string> topics, int subscriptions, int size)
    : IAsyncDisposable
{
    /// <summary>Batches that are under way, over all topics, and of each topic at least.</summary>
    private const int UnderWay = 32,
        UnderWayEach = 2;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30),
        Poll = TimeSpan.FromMilliseconds(2);

    private readonly CancellationTokenSource _end = new();
    private readonly LightQClient _publishing = new(LightQClientOptions.Parse(server));
    private readonly List<LightQClient> _consuming = [];
    private readonly List<Producer> _producers = [];
    private readonly List<ScaleConsumer> _consumers = [];
    private long _published;

    /// <summary>Deliveries that were due and did not come.</summary>
    public long Lost => _consumers.Sum(c => c.Ledger.Lost(_published));

    /// <summary>Deliveries that had come before.</summary>
    public long Duplicated => _consumers.Sum(c => c.Ledger.Duplicated);

    /// <summary>Deliveries that came behind a later one.</summary>
    public long Reordered => _consumers.Sum(c => c.Ledger.Reordered);

    /// <summary>Connects and subscribes.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (string topic in topics)
        {
            _producers.Add(
                await _publishing.CreateProducerAsync(
                    topic,
                    new ProducerOptions { DisposeTimeout = TimeSpan.Zero },
                    cancellationToken
                )
            );
        }
        // Subscriptions of one topic have a connection each; those of many topics share one.
        for (int i = 0; i < subscriptions; i++)
        {
            var client = new LightQClient(LightQClientOptions.Parse(server));
            _consuming.Add(client);
            foreach (string topic in topics)
            {
                _consumers.Add(new ScaleConsumer(client, topic));
                await _consumers[^1].StartAsync(_end.Token);
            }
        }
    }

    /// <summary>
    /// Publishes to each topic; returns when everything is acknowledged and delivered, or nothing comes any more.
    /// </summary>
    /// <param name="messagesEach">Messages of each topic.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>From before the first message until the last delivery or ack.</returns>
    public async Task<TimeSpan> RunAsync(long messagesEach, CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        await Task.WhenAll(_producers.Select(producer => PublishAsync(producer, messagesEach, cancellationToken)));
        long acknowledged = Stopwatch.GetTimestamp();
        _published += messagesEach;
        await DeliveredAsync(cancellationToken);
        return Stopwatch.GetElapsedTime(began, Math.Max(acknowledged, _consumers.Max(c => c.LastTicks)));
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        foreach (Producer producer in _producers)
            await producer.DisposeAsync();
        foreach (LightQClient client in _consuming)
            await client.DisposeAsync();
        await _publishing.DisposeAsync();
        _end.Dispose();
    }

    private async Task PublishAsync(Producer producer, long messages, CancellationToken cancellationToken)
    {
        var left = new Remaining(messages);
        int lanes = Math.Max(UnderWayEach, UnderWay / topics.Count);
        await Task.WhenAll(Enumerable.Range(0, lanes).Select(_ => PublishAsync(producer, left, cancellationToken)));
    }

    private async Task PublishAsync(Producer producer, Remaining left, CancellationToken cancellationToken)
    {
        byte[] body = new byte[size];
        Random.Shared.NextBytes(body);
        while (true)
        {
            using BatchBuilder batch = producer.CreateBatch();
            lock (left)
            {
                while (left.Count > 0 && batch.TryAdd(body))
                    left.Count--;
            }
            if (batch.Count == 0)
                return;
            await producer.PublishAsync(batch, cancellationToken);
        }
    }

    private async Task DeliveredAsync(CancellationToken cancellationToken)
    {
        long before = -1;
        for (
            long since = Stopwatch.GetTimestamp();
            Stopwatch.GetElapsedTime(since) < Patience;
            await Task.Delay(Poll, cancellationToken)
        )
        {
            long received = _consumers.Sum(c => c.Received);
            if (received >= _published * _consumers.Count)
                return;
            foreach (ScaleConsumer consumer in _consumers.Where(c => c.Running.IsCompleted))
                await consumer.Running;
            if (received != before)
                since = Stopwatch.GetTimestamp();
            before = received;
        }
    }

    private sealed class Remaining(long count)
    {
        public long Count { get; set; } = count;
    }
}
