using System.Diagnostics;
using LightQ.Client;

namespace LightQ.Cli.Bench.Cluster;

/// <summary>Publishes to a topic with replicas through the client.</summary>
internal sealed class ReplicatedLoad(LightQClient client, ClusterBenchSettings settings) : IAsyncDisposable
{
    private const int Replicas = 3,
        BodyBytes = 1000,
        WarmUp = 20;

    private readonly string _topic = $"bench-cluster-{Guid.NewGuid():N}";
    private readonly string _single = $"bench-cluster-{Guid.NewGuid():N}";

    public async Task CreateAsync(CancellationToken cancellationToken)
    {
        foreach ((string topic, int partitions) in new[] { (_topic, settings.Partitions), (_single, 1) })
        {
            await client.Topics.CreateAsync(
                new TopicSpec(topic)
                {
                    Kind = TopicKind.Durable,
                    Partitions = partitions,
                    Replicas = Replicas,
                },
                cancellationToken
            );
        }
    }

    /// <summary>Full batches to every partition, as many at a time as the broker allows.</summary>
    /// <returns>Bytes of all bodies, and the time until the last ack.</returns>
    public async Task<(long Bytes, TimeSpan Elapsed)> BatchesAsync(CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        long[] bytes = await Task.WhenAll(
            Enumerable.Range(0, settings.Partitions).Select(partition => Task.Run(() => FillAsync(partition)))
        );
        return (bytes.Sum(), Stopwatch.GetElapsedTime(began));

        async Task<long> FillAsync(int partition)
        {
            await using Producer producer = await OpenAsync(_topic, partition, cancellationToken);
            using BatchBuilder batch = producer.CreateBatch();
            long published = 0;
            while (Stopwatch.GetElapsedTime(began) < settings.Time)
            {
                published += Fill(batch);
                while (!producer.TryPublish(batch))
                    await producer.WaitForRoomAsync(cancellationToken);
            }
            await producer.FlushAsync(cancellationToken);
            return published;
        }
    }

    /// <summary>One full batch at a time to one partition.</summary>
    /// <returns>How long half of them and 99 of 100 took at most.</returns>
    public async Task<(TimeSpan Median, TimeSpan Late)> OneAtATimeAsync(CancellationToken cancellationToken)
    {
        await using Producer producer = await OpenAsync(_single, 0, cancellationToken);
        using BatchBuilder batch = producer.CreateBatch();
        List<TimeSpan> times = [];
        long began = Stopwatch.GetTimestamp();
        for (int i = 0; Stopwatch.GetElapsedTime(began) < settings.Time || times.Count == 0; i++)
        {
            Fill(batch);
            long sent = Stopwatch.GetTimestamp();
            await producer.PublishAsync(batch, cancellationToken);
            if (i >= WarmUp)
                times.Add(Stopwatch.GetElapsedTime(sent));
        }
        times.Sort();
        return (times[times.Count / 2], times[Math.Min(times.Count * 99 / 100, times.Count - 1)]);
    }

    /// <summary>Single messages, each awaited, so many at a time to each partition.</summary>
    /// <returns>Messages a second.</returns>
    public async Task<double> MessagesAsync(int size, CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        long[] counts = await Task.WhenAll(
            Enumerable.Range(0, settings.Partitions).Select(partition => Task.Run(() => PublishAsync(partition)))
        );
        return counts.Sum() / Stopwatch.GetElapsedTime(began).TotalSeconds;

        async Task<long> PublishAsync(int partition)
        {
            await using Producer producer = await OpenAsync(_topic, partition, cancellationToken);
            byte[] body = new byte[size];
            long[] sent = await Task.WhenAll(
                Enumerable.Range(0, settings.InFlight).Select(_ => OneAfterAnotherAsync())
            );
            return sent.Sum();

            async Task<long> OneAfterAnotherAsync()
            {
                long count = 0;
                for (; Stopwatch.GetElapsedTime(began) < settings.Time; count++)
                    await producer.PublishAsync(body, cancellationToken: cancellationToken);
                return count;
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (string topic in new[] { _topic, _single })
        {
            try
            {
                await client.Topics.DeleteAsync(topic);
            }
            catch (LightQException)
            {
                // It was not made, or the broker is gone; its servers say so where something is measured.
            }
        }
        await client.DisposeAsync();
    }

    private static long Fill(BatchBuilder batch)
    {
        ReadOnlySpan<byte> body = new byte[BodyBytes];
        long bytes = 0;
        while (batch.TryAdd(body))
            bytes += BodyBytes;
        return bytes;
    }

    private ValueTask<Producer> OpenAsync(string topic, int partition, CancellationToken cancellationToken) =>
        new(
            client.CreateProducerAsync(
                topic,
                new ProducerOptions
                {
                    Partition = partition,
                    BatchBytes = settings.BatchBytes,
                    AckLevel = Durability.Replicated,
                },
                cancellationToken
            )
        );
}
