using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.IntegrationTests;

namespace LightQ.ClusterTests.Catalog;

/// <summary>Two brokers, each with a data directory, on one cluster.</summary>
internal sealed class BrokerPair : IAsyncDisposable
{
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);
    private readonly TemporaryDirectory _directoryA = new(),
        _directoryB = new();
    private readonly IReplicationEngine _engineA,
        _engineB;
    private readonly string _cluster;

    private BrokerPair(IReplicationEngine a, IReplicationEngine b, string cluster) =>
        (_engineA, _engineB, _cluster) = (a, b, cluster);

    public static TopicSettings Durable => new() { Kind = TopicKind.Durable };

    public LightQBroker A { get; private set; } = null!;

    public LightQBroker B { get; private set; } = null!;

    public string DirectoryA => _directoryA.Path;

    public static async Task<BrokerPair> StartAsync(
        IReplicationEngine a,
        IReplicationEngine b,
        string cluster,
        Action<string>? prepareA = null
    )
    {
        var pair = new BrokerPair(a, b, cluster);
        prepareA?.Invoke(pair.DirectoryA);
        pair.A = await pair.OpenAAsync();
        pair.B = await pair.OpenBAsync();
        return pair;
    }

    public static BrokerOptions OptionsOf(IReplicationEngine engine, string node, string cluster = "shop") =>
        new()
        {
            Replication = new ReplicationOptions
            {
                Engine = engine,
                Cluster = cluster,
                Node = node,
                CatalogPatience = TimeSpan.FromSeconds(60), // Longer than a request that is never answered.
            },
        };

    public async Task RestartBAsync()
    {
        await B.DisposeAsync();
        B = await OpenBAsync();
    }

    /// <summary>Waits until something holds on B.</summary>
    public Task OnBAsync(Func<LightQBroker, bool> condition, string what) =>
        Eventually.TrueAsync(() => condition(B), Patience, () => $"B does not know: {what}");

    public async ValueTask DisposeAsync()
    {
        if (A is not null)
            await A.DisposeAsync();
        if (B is not null)
            await B.DisposeAsync();
        _directoryA.Dispose();
        _directoryB.Dispose();
    }

    private Task<LightQBroker> OpenAAsync() => OpenAsync(_directoryA.Path, _engineA, "a");

    private Task<LightQBroker> OpenBAsync() => OpenAsync(_directoryB.Path, _engineB, "b");

    private Task<LightQBroker> OpenAsync(string directory, IReplicationEngine engine, string node) =>
        LightQBroker.OpenAsync(directory, OptionsOf(engine, node, _cluster), TimeProvider.System);
}
