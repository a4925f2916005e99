using LightQ.Broker.Catalog;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Brokers in one process, and the topic that they share.</summary>
/// <param name="options">How long they wait for each other.</param>
internal sealed class TestCluster(MemberOptions options) : IAsyncDisposable
{
    public const uint Partitions = 8;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly Dictionary<string, TestNode> _nodes = [];

    /// <summary>All partitions.</summary>
    public static IEnumerable<uint> All => Enumerable.Range(0, (int)Partitions).Select(i => (uint)i);

    /// <summary>The topic's id: one with which each of three nodes leads something.</summary>
    public Guid TopicId { get; } = new("0199aaaa-1111-7000-8000-000000000042");

    private static TopicSettings Settings { get; } =
        new TopicSettings
        {
            Kind = TopicKind.Durable,
            Replicas = 3,
            Partitions = Partitions,
        }.Complete();

    /// <summary>The node of a name.</summary>
    public TestNode this[string name] => _nodes[name];

    public async Task CreateAsync(IReplicationEngine engine)
    {
        // Before there are streams: else no broker begins the cluster.
        var init = new ClusterInit(engine, "shop");
        if ((await init.ExamineAsync(TestContext.Current.CancellationToken)).Cluster is null)
            await init.RunAsync(TimeProvider.System, TestContext.Current.CancellationToken);
        foreach (uint i in All)
            await engine.CreateStreamAsync(StreamOf(i), 3, TestContext.Current.CancellationToken);
    }

    public async Task StartAsync(string name, IReplicationEngine engine) =>
        _nodes[name] = await StartOneAsync(name, engine);

    /// <summary>Starts a node that the cluster does not count.</summary>
    public Task<TestNode> StartOneAsync(string name, IReplicationEngine engine) =>
        TestNode.StartAsync(name, engine, TopicId, Settings, options);

    /// <summary>Stops a node in good order.</summary>
    public async Task StopAsync(string name)
    {
        await _nodes[name].DisposeAsync();
        _nodes.Remove(name);
    }

    public string StreamOf(uint partition) => $"LQ_shop_{TopicId:N}_{partition}";

    /// <summary>
    /// Waits until these nodes lead the partitions, each its share, and all know; what an operator has moved does not
    /// count.
    /// </summary>
    public Task PlacedAsync(params string[] names) =>
        Eventually.TrueAsync(
            () =>
            {
                Situation[] seen = [.. All.Select(i => Of(names[0], i))];
                int[] shares = [.. names.Select(name => seen.Count(now => now.Leader == name && !now.IsPinned))];
                return All.All(i => seen[i].IsLed && names.Contains(seen[i].Leader))
                    && names.All(name =>
                        All.All(i => Of(name, i) is { IsLed: true } now && now.Leader == seen[i].Leader)
                    )
                    && All.All(i => this[seen[i].Leader].Serves.Contains(i))
                    && shares.Max() - shares.Min() < 2;
            },
            Patience,
            Describe
        );

    public Task PlacedAsync(Func<uint, string> place, params string[] names) =>
        Eventually.TrueAsync(
            () =>
                All.All(i =>
                    names.All(name => Of(name, i) is { IsLed: true } now && now.Leader == place(i))
                    && this[place(i)].Serves.Contains(i)
                ),
            Patience,
            Describe
        );

    /// <summary>Waits until a node has reported something.</summary>
    public Task ReportedAsync(string name, string line) =>
        Eventually.TrueAsync(() => this[name].Events.Lines.Contains(line), Patience, Describe);

    public Situation Of(string name, uint partition) => this[name].Members.Of(new PartitionId(TopicId, partition));

    /// <summary>The partition, where it is led.</summary>
    public Partition Led(uint partition) =>
        _nodes.Values.Select(node => node.Topic.Partitions[(int)partition]).Single(p => p.Log.Failure is null);

    /// <summary>The node that leads each partition.</summary>
    public string[] Leaders() =>
        [.. All.Select(i => _nodes.Single(n => n.Value.Topic.Partitions[(int)i].Log.Failure is null).Key)];

    /// <summary>One batch to each of the partitions, until it can be read.</summary>
    public async Task AppendAsync(params IEnumerable<uint> partitions)
    {
        foreach (uint i in partitions)
        {
            Partition partition = Led(i);
            byte[] batch = TestBatch.Make(0, 0, 1);
            long end;
            lock (partition.AppendLock)
            {
                long time = partition.NextAppendTime();
                Assert.Equal(AppendResult.Appended, partition.Append(new BatchView(batch), time, out end));
            }
            partition.FlushAndWake();
            await Eventually.TrueAsync(
                () => partition.Log.ReadableOffset > end,
                Patience,
                () => $"It cannot be read: {partition.Log.Failure}\n{Describe()}"
            );
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (TestNode node in _nodes.Values)
            await node.DisposeAsync();
    }

    private string Describe() =>
        string.Join(
            '\n',
            _nodes.Select(node =>
                $"{node.Key} serves {string.Join(' ', node.Value.Serves)}, knows "
                + string.Join(' ', All.Select(i => Of(node.Key, i)).Select(now => $"{now.Leader}/{now.IsLed}"))
                + $"; {string.Join(", ", node.Value.Events.Lines)}"
            )
        );
}
