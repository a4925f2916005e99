using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests;
using LightQ.Server;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>Servers of one cluster in this process, and clients that reach all of them.</summary>
internal sealed class ServerCluster : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private readonly TemporaryDirectory _directory = new();
    private readonly Dictionary<string, LightQServer> _servers = [];
    private readonly List<IReplicationEngine> _engines = [];
    private readonly Dictionary<string, FaultyFileSystem> _files = [];

    public IReadOnlyCollection<string> Names => _servers.Keys;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public LightQServer this[string name] => _servers[name];

    /// <summary>The disk of a server.</summary>
    public FaultyFileSystem FilesOf(string name) => _files[name];

    public static async Task<ServerCluster> StartAsync(
        MemberOptions options,
        Func<ValueTask<IReplicationEngine>> connect,
        params string[] names
    )
    {
        var cluster = new ServerCluster();
        foreach (string name in names)
            await cluster.AddAsync(name, await connect(), options);
        await Eventually.TrueAsync(
            () => names.All(one => names.All(other => cluster.Hears(one, other))),
            Patience,
            () => "The nodes do not hear of each other."
        );
        return cluster;
    }

    /// <summary>Starts one more, or one that was stopped.</summary>
    public async Task AddAsync(string name, IReplicationEngine engine, MemberOptions options)
    {
        _engines.Add(engine);
        _servers[name] = await StartAsync(name, engine, options);
    }

    /// <summary>A client that was given the address of one of them alone.</summary>
    public LightQClient ConnectTo(string name) => new(_servers[name].ConnectionString);

    /// <summary>Ends a server.</summary>
    public async Task StopAsync(string name)
    {
        await _servers[name].StopAsync(TimeSpan.FromSeconds(1));
        _servers.Remove(name);
    }

    /// <summary>A client that knows all of them.</summary>
    public LightQClient Connect() =>
        new(
            LightQClientOptions.Parse(
                $"lightq://{string.Join(',', _servers.Values.Select(s => $"127.0.0.1:{s.DataPort}"))}?control="
                    + string.Join(',', _servers.Values.Select(s => s.ControlPort))
            )
        );

    /// <summary>Makes a topic with replicas, which all nodes know when this returns.</summary>
    public async Task CreateAsync(string topic, uint partitions, TimeSpan dedupWindow = default)
    {
        var settings = new TopicSettings
        {
            Kind = Broker.Topics.TopicKind.Durable,
            Replicas = 3,
            Partitions = partitions,
            DedupWindow = dedupWindow,
        };
        await Task.Run(() => _servers.Values.First().Broker.CreateTopic(topic, settings), Cancelled);
        await Eventually.TrueAsync(
            () =>
                _servers.Values.All(s => s.Broker.TryGetTopic(topic, out _))
                && Enumerable.Range(0, (int)partitions).All(i => LeaderOf(topic, i) is not null),
            Patience,
            () => $"Not all know {topic}, or nobody leads a partition of it."
        );
    }

    /// <summary>The node that leads a partition; null while there is none.</summary>
    public string? LeaderOf(string topic, int partition) =>
        _servers
            .FirstOrDefault(s =>
                s.Value.Broker.TryGetTopic(topic, out Topic? found)
                && found.Partitions[partition] is { Refusal: null, Log.Failure: null }
            )
            .Key;

    /// <summary>Has a node lead a partition.</summary>
    public async Task MoveAsync(string topic, int partition, string node)
    {
        LightQBroker broker = _servers[node].Broker;
        await broker.Replicas.MoveAsync(broker.GetTopic(topic), (uint)partition, node, Cancelled);
        await Eventually.TrueAsync(
            () => LeaderOf(topic, partition) == node,
            Patience,
            () => $"{node} does not lead partition {partition}."
        );
    }

    public async ValueTask DisposeAsync()
    {
        foreach (LightQServer server in _servers.Values)
            await server.StopAsync(TimeSpan.FromSeconds(1));
        foreach (IReplicationEngine engine in _engines)
            await engine.DisposeAsync();
        _directory.Dispose();
    }

    private bool Hears(string one, string other) =>
        _servers[one].Broker.Replicas.Members is { MayClaim: true } members && members.Find(other) is { IsLive: true };

    private Task<LightQServer> StartAsync(string name, IReplicationEngine engine, MemberOptions members) =>
        LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = _directory.File(name),
                Broker = new BrokerOptions
                {
                    OpenEnvironment = options => new JournalEnvironment(
                        options,
                        _files[name] = new FaultyFileSystem(PlatformFileSystem.Choose())
                    ),
                    Replication = new ReplicationOptions
                    {
                        Engine = engine,
                        Cluster = "hand",
                        Node = name,
                        Members = members,
                        CatalogPatience = Patience,
                    },
                },
            },
            cancellationToken: Cancelled
        );
}
