using Grpc.Net.Client;
using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Server;
using Xunit;
using Retention = LightQ.Client.Retention;

namespace LightQ.ClusterTests.Members;

/// <summary>Two servers of one cluster over an engine in memory, with a client at each.</summary>
internal sealed class ForwardingCluster : IAsyncDisposable
{
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    /// <summary>Longer than by default, so that a machine that stands still for a moment kills no node.</summary>
    public static readonly MemberOptions Members = new() { Silence = TimeSpan.FromSeconds(2) };

    private readonly TemporaryDirectory _directory = new();
    private readonly MemoryEngine _engine = new();
    private readonly Dictionary<string, MemoryEngine> _engines = [];
    private readonly Func<LightQServerOptions, LightQServerOptions> _configure;

    private ForwardingCluster(Func<LightQServerOptions, LightQServerOptions> configure) => _configure = configure;

    public LightQServer A { get; private set; } = null!;

    public LightQServer B { get; private set; } = null!;

    public GrpcChannel AtA { get; private set; } = null!;

    public GrpcChannel AtB { get; private set; } = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static async Task<ForwardingCluster> StartAsync(
        Func<LightQServerOptions, LightQServerOptions>? configure = null
    )
    {
        var cluster = new ForwardingCluster(configure ?? (o => o));
        cluster.A = await cluster.StartAsync("a");
        cluster.B = await cluster.StartAsync("b");
        await cluster.MeetAsync();
        cluster.AtA = GrpcChannel.ForAddress($"http://127.0.0.1:{cluster.A.ControlPort}");
        cluster.AtB = GrpcChannel.ForAddress($"http://127.0.0.1:{cluster.B.ControlPort}");
        return cluster;
    }

    /// <summary>A file of a node's data directory.</summary>
    public string FileOf(string node, string name) => Path.Combine(_directory.File(node), name);

    /// <summary>Stops b and starts it again.</summary>
    public async Task RestartBAsync()
    {
        AtB.Dispose();
        await B.DisposeAsync();
        B = await StartAsync("b");
        await MeetAsync();
        AtB = GrpcChannel.ForAddress($"http://127.0.0.1:{B.ControlPort}");
    }

    /// <summary>A topic of four partitions: a leads 0 and 2, b leads 1 and 3.</summary>
    public async Task<Topic> SpreadAsync(string name, Retention retention = Retention.Keep)
    {
        Topic topic = await CreateAsync(
            name,
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                Replicas = 3,
                Partitions = 4,
                Retention = retention,
            }
        );
        for (uint i = 0; i < 4; i++)
            await LeadAsync(name, i, i % 2 == 0 ? "a" : "b");
        return topic;
    }

    /// <summary>Makes a topic at a, which b knows when this returns.</summary>
    public async Task<Topic> CreateAsync(string name, TopicSettings settings)
    {
        Topic topic = await Task.Run(() => A.Broker.CreateTopic(name, settings), Cancelled);
        await Eventually.TrueAsync(
            () => B.Broker.TryGetTopic(name, out _),
            Patience,
            () => "b does not know the topic"
        );
        return topic;
    }

    /// <summary>The stream of a partition.</summary>
    public FaultyStream StreamOf(Guid topic, uint partition) => _engine[$"LQ_shop_{topic:N}_{partition}"];

    /// <summary>The engine as a node reaches it.</summary>
    public MemoryEngine EngineOf(string node) => _engines[node];

    /// <summary>A node's data directory.</summary>
    public string DirectoryOf(string node) => _directory.File(node);

    /// <summary>Has a node lead a partition, and waits until it does and both know.</summary>
    public async Task LeadAsync(string name, uint partition, string node)
    {
        LightQServer leader = node == "a" ? A : B,
            other = node == "a" ? B : A;
        await Eventually.TrueAsync(() => Leads(A) != Leads(B), Patience, () => $"Nobody leads partition {partition}");
        if (!Leads(leader))
            await A.Broker.Replicas.MoveAsync(A.Broker.GetTopic(name), partition, node, Cancelled);
        await Eventually.TrueAsync(
            () => Leads(leader) && !Leads(other) && KnowsLeader(A) && KnowsLeader(B),
            Patience,
            () => $"{node} does not lead partition {partition}"
        );

        bool Leads(LightQServer server) => server.Broker.GetTopic(name).Partitions[(int)partition].Refusal is null;

        bool KnowsLeader(LightQServer server) =>
            server.Broker.Replicas.Members!.Of(new PartitionId(server.Broker.GetTopic(name).Id, partition))
                is { IsLed: true } now
            && now.Leader == node;
    }

    public async ValueTask DisposeAsync()
    {
        AtA?.Dispose();
        AtB?.Dispose();
        if (A is not null)
            await A.DisposeAsync();
        if (B is not null)
            await B.DisposeAsync();
        _directory.Dispose();
    }

    private static bool Knows(LightQServer server, string node) =>
        server.Broker.Replicas.Members!.Find(node) is { IsLive: true };

    private Task MeetAsync() =>
        Eventually.TrueAsync(
            () => Knows(A, "b") && Knows(B, "a"),
            Patience,
            () => "The nodes do not hear of each other."
        );

    private Task<LightQServer> StartAsync(string name) =>
        LightQServer.StartAsync(
            _configure(
                LightQServerOptions.InProcess with
                {
                    DataDirectory = _directory.File(name),
                    Broker = new BrokerOptions
                    {
                        Replication = new ReplicationOptions
                        {
                            Engine = _engines[name] = _engine.Connect(),
                            Cluster = "shop",
                            Node = name,
                            Members = Members,
                        },
                    },
                }
            ),
            cancellationToken: Cancelled
        );
}
