using System.Diagnostics;
using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Protocol.Batches;
using Xunit;

namespace LightQ.ClusterTests.Faults;

/// <summary>
/// Named producers, a broadcast subscription and a group on a topic with replicas, while something is done to the
/// cluster; and then the verdict.
/// </summary>
internal sealed class ClusterLoad : IAsyncDisposable
{
    private const int ProducersEach = 2;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    private static readonly TimeSpan ElectionsTail = TimeSpan.FromSeconds(20);

    private readonly BrokerCluster _cluster;
    private readonly Guid _topicId;
    private readonly int _partitions;
    private readonly LightQClient[] _clients;
    private readonly LoadProducer[] _producers;
    private readonly LoadConsumer _broadcast,
        _group;
    private readonly CancellationTokenSource _publishing = new(),
        _consuming = new();
    private readonly Task[] _producing,
        _receiving;

    private ClusterLoad(BrokerCluster cluster, string topic, Guid topicId, int partitions)
    {
        (_cluster, Topic, _topicId, _partitions) = (cluster, topic, topicId, partitions);
        _producers =
        [
            .. Enumerable.Range(0, partitions * ProducersEach).Select(i => new LoadProducer(topic, i, i % partitions)),
        ];
        _broadcast = new LoadConsumer(topic, group: null);
        _group = new LoadConsumer(topic, "workers");
        _clients = [cluster.Connect(), cluster.Connect(), cluster.Connect()];
        _producing = [.. _producers.Select(p => Task.Run(() => p.RunAsync(_clients[0], _publishing.Token)))];
        _receiving =
        [
            Task.Run(() => _broadcast.RunAsync(_clients[1], _consuming.Token)),
            Task.Run(() => _group.RunAsync(_clients[2], _consuming.Token)),
        ];
    }

    public string Topic { get; }

    /// <summary>Acknowledged so far.</summary>
    public int Acknowledged => _producers.Sum(p => p.Offsets.Count);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Makes a topic and begins; returns when every producer has been acknowledged.</summary>
    public static async Task<ClusterLoad> StartAsync(BrokerCluster cluster, string topic, int partitions = 2)
    {
        await using LightQClient client = cluster.Connect();
        TopicInfo made = await client.Topics.CreateAsync(
            new TopicSpec(topic)
            {
                Kind = TopicKind.Durable,
                Replicas = 3,
                Partitions = partitions,
            },
            Cancelled
        );
        var load = new ClusterLoad(cluster, topic, Guid.Parse(made.Id), partitions);
        try
        {
            await load.GoesOnAsync();
            return load;
        }
        catch
        {
            await load.DisposeAsync();
            throw;
        }
    }

    /// <summary>The longest time without an ack of each producer, since this was asked last.</summary>
    public IReadOnlyList<TimeSpan> TakeSilences() => [.. _producers.Select(p => p.TakeSilence())];

    /// <summary>Waits until every producer was acknowledged once more.</summary>
    public async Task GoesOnAsync()
    {
        int[] before = [.. _producers.Select(p => p.Offsets.Count)];
        await Eventually.TrueAsync(
            async () =>
            {
                await FailEarlyAsync();
                return !_producers.Where((p, i) => p.Offsets.Count == before[i]).Any();
            },
            Patience,
            () => $"A producer of {Topic} gets no ack.\n{_cluster.Logs()}"
        );
    }

    /// <summary>
    /// Stops publishing, waits for every ack, and compares what was acknowledged and consumed with what the engine has.
    /// </summary>
    public async Task<Verdict> JudgeAsync()
    {
        await _cluster.HealAsync(Topic);
        await _publishing.CancelAsync();
        await Task.WhenAll(_producing).WaitAsync(Patience, Cancelled);
        Dictionary<(int Partition, long Offset), Sent> stored = [];
        uint epochs = 0;
        int voids = 0;
        for (int partition = 0; partition < _partitions; partition++)
        {
            (List<StreamEntry> entries, _, _) = await ReadStreamAsync(partition);
            var checker = new StreamChecker(entries, (in BatchView batch) => Take(stored, partition, batch));
            (epochs, voids) = (epochs + checker.Epoch, voids + checker.Void);
        }
        foreach (LoadProducer producer in _producers)
            Check(producer, stored);
        await Eventually.TrueAsync(
            async () =>
            {
                await FailEarlyAsync();
                return _broadcast.Seen.Count >= stored.Count && _group.Seen.Count >= stored.Count;
            },
            Patience,
            () =>
                $"Of {stored.Count} messages of {Topic} the broadcast got {_broadcast.Seen.Count}, the group "
                + $"{_group.Seen.Count}.\n{_cluster.Logs()}"
        );
        Compare("the broadcast", _broadcast, stored);
        Compare("the group", _group, stored);
        Assert.Equal(0, _broadcast.Again);
        return new Verdict(Acknowledged, (int)epochs, voids, _group.Again);
    }

    /// <summary>
    /// What the nats-servers do not have any more of what they had confirmed; empty when they have everything. Fails
    /// when anything that stands in front of that is not as it was acknowledged.
    /// </summary>
    public async Task<string> DescribeDroppedAsync()
    {
        await _publishing.CancelAsync();
        await _cluster.Engine.HealAsync();
        Dictionary<(int Partition, long Offset), Sent> front = [];
        List<string> dropped = [];
        for (int partition = 0; partition < _partitions; partition++)
        {
            (List<StreamEntry> entries, ulong? first, int seen) = await ReadStreamAsync(partition);
            if (first is { } sequence)
            {
                string stream = BrokerCluster.StreamOf(_topicId, partition);
                dropped.Add(
                    $"entry {sequence} of {stream}, which has {entries.Count} now, of {seen} that were confirmed or "
                        + "delivered"
                );
                entries.RemoveAll(entry => entry.Sequence >= sequence);
            }
            _ = new StreamChecker(entries, (in BatchView batch) => Take(front, partition, batch));
        }
        if (dropped.Count != 0)
        {
            foreach (LoadProducer producer in _producers)
                CheckFront(producer, front);
        }
        return string.Join("; ", dropped);
    }

    public async ValueTask DisposeAsync()
    {
        await _publishing.CancelAsync();
        await _consuming.CancelAsync();
        foreach (LightQClient client in _clients)
            await client.DisposeAsync();
        await Task.WhenAll([.. _producing, .. _receiving]).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _publishing.Dispose();
        _consuming.Dispose();
    }

    private static void Take(Dictionary<(int, long), Sent> stored, int partition, in BatchView batch)
    {
        foreach (RecordView record in batch.Records)
            stored.Add((partition, record.Offset), Sent.Decode(record.Body));
    }

    private static void Check(LoadProducer producer, Dictionary<(int Partition, long Offset), Sent> stored)
    {
        IReadOnlyList<long> acknowledged = producer.Offsets;
        long[] own = CheckFront(producer, stored);
        Assert.True(
            acknowledged.Count <= own.Length,
            $"lost: of the {acknowledged.Count} acknowledged messages of producer {producer.Number} {own.Length} are "
                + $"stored, the last at {own.LastOrDefault(-1)}"
        );
        Assert.True(
            own.Length == acknowledged.Count,
            $"duplicated: producer {producer.Number} sent {acknowledged.Count} messages, {own.Length} are stored"
        );
    }

    /// <summary>Compares what is stored of a producer's with what was acknowledged, as far as both go.</summary>
    /// <returns>Where its messages are.</returns>
    private static long[] CheckFront(LoadProducer producer, Dictionary<(int Partition, long Offset), Sent> stored)
    {
        IReadOnlyList<long> acknowledged = producer.Offsets;
        long[] own =
        [
            .. stored
                .Where(s => s.Value.Producer == producer.Number)
                .OrderBy(s => s.Key.Offset)
                .Select(s => s.Key.Offset),
        ];
        for (int number = 0; number < Math.Min(own.Length, acknowledged.Count); number++)
        {
            Sent found = stored[(producer.Partition, own[number])];
            Assert.True(
                found.Number == number,
                $"producer {producer.Number}: {found.Number} stands where {number} belongs"
            );
            Assert.True(
                acknowledged[number] < 0 || acknowledged[number] == own[number],
                $"producer {producer.Number}: {number} was acknowledged at {acknowledged[number]} and is at "
                    + $"{own[number]}"
            );
        }
        return own;
    }

    private static void Compare(string who, LoadConsumer consumer, Dictionary<(int, long), Sent> stored)
    {
        Assert.True(consumer.Fault is null, $"{who}: {consumer.Fault}");
        foreach ((var place, Sent sent) in consumer.Seen)
            Assert.True(stored.GetValueOrDefault(place) == sent, $"{who} got {sent} at {place}, which is another");
    }

    /// <summary>Reads a partition's stream, and compares it with what the servers have said of it.</summary>
    /// <returns>All entries, the first that is not as it was said, and how many were.</returns>
    private async Task<(List<StreamEntry> Entries, ulong? Dropped, int Seen)> ReadStreamAsync(int partition)
    {
        List<EngineWitness.Seen> seen = _cluster.Witness.Of(BrokerCluster.StreamOf(_topicId, partition));
        // A leader that was just elected may not have applied yet what the one before it confirmed.
        for (var since = Stopwatch.StartNew(); ; await Task.Delay(500, Cancelled))
        {
            List<StreamEntry> entries = await _cluster.ReadStreamAsync(_topicId, partition);
            ulong? dropped = EngineWitness.FindDropped(seen, entries);
            if (dropped is null || since.Elapsed > ElectionsTail)
                return (entries, dropped, seen.Count);
        }
    }

    private async Task FailEarlyAsync()
    {
        if (_producing.Concat(_receiving).FirstOrDefault(task => task.IsFaulted) is { } failed)
            await failed;
    }
}
