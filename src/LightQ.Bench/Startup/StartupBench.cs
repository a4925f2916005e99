using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Processes;
using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Bench.Startup;

/// <summary>
/// How long a broker with a backlog takes to be ready after it was killed under load: again and again, beside a start
/// on an empty directory.
/// </summary>
internal sealed class StartupBench(BenchSettings settings, int topics, long backlogBytes, IBenchConsole console)
{
    private const int MessageBytes = 1024;
    private const int FilledAtOnce = 4;
    private const int LoadedAtOnce = 4;
    private static readonly ProducerOptions BigBatches = new()
    {
        BatchBytes = 256 * 1024,
        DisposeTimeout = TimeSpan.Zero,
    };
    private static readonly TimeSpan LoadTime = TimeSpan.FromSeconds(1);

    /// <summary>One behind the last acknowledged message of each topic.</summary>
    private readonly long[] _acknowledged = new long[topics];
    private int _filled;

    public async Task<IReadOnlyList<StartupResult>> RunAsync(CancellationToken cancellationToken)
    {
        await using EmbeddedBroker broker = await EmbeddedBroker.StartAsync(settings.DataDirectory, cancellationToken);
        await FillAsync(broker, cancellationToken);
        var ready = new List<double>();
        var empty = new List<double>();
        long lost = 0,
            peak = 0;
        var resident = new List<double>();
        for (int pair = 1; pair <= settings.Pairs; pair++)
        {
            await using (
                EmbeddedBroker other = await EmbeddedBroker.StartAsync(settings.DataDirectory, cancellationToken)
            )
            {
                empty.Add(Math.Round(other.Ready.TotalMilliseconds));
            }

            await CrashUnderLoadAsync(broker, cancellationToken);
            ProcessUsage usage = broker.Usage;
            ready.Add(Math.Round(broker.Ready.TotalMilliseconds));
            resident.Add(usage.ResidentBytes);
            peak = Math.Max(peak, usage.PeakBytes);
            lost += await CountLostAsync(broker, cancellationToken);
            console.Progress(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"pair {pair} of {settings.Pairs}: ready after {ready[^1]:N0} ms, empty {empty[^1]:N0} ms"
                )
            );
        }
        return
        [
            new StartupResult
            {
                Size = MessageBytes,
                Kind = settings.KindName,
                Ack = settings.AckName,
                Api = settings.ApiName,
                Messages = _acknowledged.Sum(),
                Yardstick = "empty",
                Ratio = Math.Round(Median.Of(ready) / Median.Of(empty), 3),
                Pairs = settings.Pairs,
                Lost = lost,
                Topics = topics,
                BacklogBytes = backlogBytes,
                ReadyMs = Median.Of(ready),
                YardstickReadyMs = Median.Of(empty),
                ReadyRunsMs = ready,
                YardstickReadyRunsMs = empty,
                BrokerReadyRssBytes = (long)Median.Of(resident),
                BrokerPeakRssBytes = peak,
            },
        ];
    }

    private static string NameOf(int topic) => string.Create(CultureInfo.InvariantCulture, $"backlog-{topic}");

    /// <summary>A patient client: a machine that has just started a broker under load may be slow to answer.</summary>
    private static LightQClient Connect(EmbeddedBroker broker) =>
        new(LightQClientOptions.Parse(broker.ConnectionString) with { ConnectTimeout = TimeSpan.FromSeconds(30) });

    private async Task FillAsync(EmbeddedBroker broker, CancellationToken cancellationToken)
    {
        await using LightQClient client = Connect(broker);
        long messages = Math.Max(1, backlogBytes / topics / MessageBytes);
        var options = new ParallelOptions
        {
            MaxDegreeOfParallelism = FilledAtOnce,
            CancellationToken = cancellationToken,
        };
        await broker.WhileAliveAsync(
            Parallel.ForAsync(
                0,
                topics,
                options,
                async (topic, token) =>
                {
                    await client.Topics.CreateAsync(new TopicSpec(NameOf(topic)) { Kind = TopicKind.Durable }, token);
                    await using Producer producer = await client.CreateProducerAsync(NameOf(topic), BigBatches, token);
                    while (_acknowledged[topic] < messages)
                    {
                        await PublishAsync(
                            producer,
                            topic,
                            (int)Math.Min(int.MaxValue, messages - _acknowledged[topic]),
                            token
                        );
                    }

                    console.Progress(
                        string.Create(
                            CultureInfo.InvariantCulture,
                            $"filling: {Interlocked.Increment(ref _filled):N0} of {topics:N0} topics"
                        )
                    );
                }
            )
        );
    }

    /// <summary>
    /// Publishes to some of the topics for a while, then kills the broker in the middle of it and starts it again.
    /// </summary>
    private async Task CrashUnderLoadAsync(EmbeddedBroker broker, CancellationToken cancellationToken)
    {
        await using LightQClient client = Connect(broker);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task load = Task.WhenAll(
            Enumerable.Range(0, Math.Min(LoadedAtOnce, topics)).Select(topic => LoadAsync(client, topic, stop.Token))
        );
        await Task.WhenAny(load, Task.Delay(LoadTime, cancellationToken));
        await broker.CrashAsync(cancellationToken);
        await stop.CancelAsync();
        await load;
    }

    private async Task LoadAsync(LightQClient client, int topic, CancellationToken stop)
    {
        try
        {
            await using Producer producer = await client.CreateProducerAsync(NameOf(topic), BigBatches, stop);
            while (true)
                await PublishAsync(producer, topic, int.MaxValue, stop);
        }
        catch (Exception e)
            when (e is LightQException || (e is OperationCanceledException && stop.IsCancellationRequested))
        {
            // The broker was killed; what it acknowledged before is counted afterwards.
        }
    }

    /// <summary>Publishes one batch and waits until it is on the disk.</summary>
    private async Task PublishAsync(Producer producer, int topic, int most, CancellationToken cancellationToken)
    {
        using BatchBuilder batch = producer.CreateBatch();
        byte[] body = new byte[MessageBytes];
        Random.Shared.NextBytes(body);
        while (batch.Count < most && batch.TryAdd(body))
        {
            // Filling.
        }
        PublishAck ack = await producer.PublishAsync(batch, cancellationToken);
        _acknowledged[topic] = ack.Offset + ack.Count;
    }

    private async Task<long> CountLostAsync(EmbeddedBroker broker, CancellationToken cancellationToken)
    {
        await using LightQClient client = Connect(broker);
        long lost = 0;
        for (int topic = 0; topic < topics; topic++)
        {
            TopicInfo info = await client.Topics.GetAsync(NameOf(topic), cancellationToken);
            long end = info.EndOffsets.Count == 0 ? 0 : info.EndOffsets[0];
            lost += Math.Max(0, _acknowledged[topic] - end);
        }
        return lost;
    }
}
