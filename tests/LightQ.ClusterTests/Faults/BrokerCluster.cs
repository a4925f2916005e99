using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Protocol.Control;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Faults;

/// <summary>Three <c>lightq server</c> processes on three nats-servers.</summary>
internal sealed class BrokerCluster : IAsyncDisposable
{
    private const string Name = "matrix";
    private const int Nodes = 3;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly TemporaryDirectory _directory = new();

    private BrokerCluster(NatsCluster engine, string name, (string Name, string Value)[] variables)
    {
        Engine = engine;
        Brokers =
        [
            .. Enumerable
                .Range(1, Nodes)
                .Select(i => new ClusterBroker(
                    $"b{i}",
                    _directory.File($"b{i}"),
                    name,
                    engine.Ports,
                    Witness,
                    variables
                )),
        ];
    }

    public NatsCluster Engine { get; }

    /// <summary>What the nats-servers confirmed to the brokers.</summary>
    public EngineWitness Witness { get; } = new();

    public IReadOnlyList<ClusterBroker> Brokers { get; }

    /// <summary>What a user writes to reach all of them.</summary>
    public string ConnectionString =>
        $"lightq://{string.Join(',', Brokers.Select(b => b.DataAddress))}"
        + $"?control={string.Join(',', Brokers.Select(b => b.ControlPort))}";

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <param name="engine">The nats-servers.</param>
    /// <param name="name">The cluster's name; one of its own where tests share the servers.</param>
    /// <param name="variables">Variables in the brokers' environment.</param>
    public static async Task<BrokerCluster> StartAsync(
        NatsCluster engine,
        string name = Name,
        params (string Name, string Value)[] variables
    )
    {
        var cluster = new BrokerCluster(engine, name, variables);
        try
        {
            await Task.WhenAll(cluster.Brokers.Select(broker => broker.StartAsync()));
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    public LightQClient Connect() =>
        new(
            LightQClientOptions.Parse(ConnectionString) with
            {
                ReconnectDelay = TimeSpan.FromMilliseconds(5),
                MaxReconnectDelay = TimeSpan.FromMilliseconds(50),
            }
        );

    /// <summary>Everything that was done to it is undone.</summary>
    public async Task HealAsync()
    {
        await Engine.HealAsync();
        foreach (ClusterBroker broker in Brokers)
        {
            broker.Heal();
            if (!broker.IsRunning)
                await broker.StartAsync();
        }
    }

    /// <summary>The same, and every partition of a topic has a leader.</summary>
    public async Task HealAsync(string topic)
    {
        await HealAsync();
        await Eventually.TrueAsync(
            async () => (await LeadersAsync(topic)).All(leader => leader is not null),
            Patience,
            () => $"A partition of {topic} has no leader.\n{Logs()}"
        );
    }

    /// <summary>Waits until the brokers lead a topic's partitions, each its share: then none moves.</summary>
    public async Task SettleAsync(LightQClient client, string topic)
    {
        _ = await client.Topics.GetAsync(topic, Cancelled);
        string?[] led = [];
        await Eventually.TrueAsync(
            async () =>
            {
                led = [.. (await LeadersAsync(topic)).Select(leader => leader?.Name)];
                int[] shares = [.. Brokers.Select(broker => led.Count(name => name == broker.Name))];
                return !led.Contains(null) && shares.Max() - shares.Min() < 2;
            },
            Patience,
            () => $"The partitions of {topic} are not led evenly: {string.Join(", ", led)}.\n{Logs()}"
        );
    }

    /// <summary>Who leads each partition of a topic, as the nodes that answer say; null for nobody.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="except">A node that is not asked.</param>
    public async Task<ClusterBroker?[]> LeadersAsync(string topic, ClusterBroker? except = null)
    {
        foreach (ClusterBroker broker in Brokers.Where(broker => broker != except))
        {
            using Grpc.Net.Client.GrpcChannel channel = Grpc.Net.Client.GrpcChannel.ForAddress(
                $"http://{broker.ControlAddress}"
            );
            try
            {
                ClusterMetadata metadata = await new Protocol.Control.Cluster.ClusterClient(channel).GetMetadataAsync(
                    new GetMetadataRequest { Topics = { topic } },
                    deadline: DateTime.UtcNow.AddSeconds(2),
                    cancellationToken: Cancelled
                );
                return [.. metadata.Partitions.Select(p => Brokers.FirstOrDefault(b => b.Name == p.Node))];
            }
            catch (Grpc.Core.RpcException)
            {
                // It is down or cut off: another one knows.
            }
        }
        return [null];
    }

    /// <summary>The node that leads a partition.</summary>
    public async Task<ClusterBroker> LeaderAsync(string topic, int partition = 0)
    {
        ClusterBroker? leader = null;
        await Eventually.TrueAsync(
            async () =>
            {
                ClusterBroker?[] leaders = await LeadersAsync(topic);
                return (leader = partition < leaders.Length ? leaders[partition] : null) is not null;
            },
            Patience,
            () => $"Partition {partition} of {topic} has no leader.\n{Logs()}"
        );
        return leader!;
    }

    /// <summary>Waits until the other nodes lead what one did.</summary>
    public Task LedElsewhereAsync(string topic, ClusterBroker than) =>
        Eventually.TrueAsync(
            async () => (await LeadersAsync(topic, except: than)).All(leader => leader is not null && leader != than),
            Patience,
            () => $"{than.Name} still leads a partition of {topic}.\n{Logs()}"
        );

    /// <summary>Everything in the stream of a partition, as the engine has it.</summary>
    public async Task<List<StreamEntry>> ReadStreamAsync(Guid topicId, int partition)
    {
        await using JetStreamEngine engine = await JetStreamEngine.ConnectAsync(
            new NatsEngineOptions { Servers = Engine.Addresses, RequestTimeout = TimeSpan.FromSeconds(20) },
            Cancelled
        );
        IReplicatedStream stream = engine.GetStream(StreamOf(topicId, partition));
        List<StreamEntry> entries = [];
        StreamBounds bounds = await stream.GetBoundsAsync(Cancelled);
        await foreach (StreamEntry entry in stream.ReadAsync(bounds.First, bounds.Last, Cancelled))
            entries.Add(entry);
        return entries;
    }

    /// <summary>The name of a partition's stream.</summary>
    public static string StreamOf(Guid topicId, int partition) =>
        FormattableString.Invariant($"LQ_{Name}_{topicId:N}_{partition}");

    public string Logs() => string.Join('\n', Brokers.Select(broker => $"--- {broker.Name}\n{broker.Log}"));

    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(Brokers.Select(broker => broker.DisposeAsync().AsTask()));
        _directory.Dispose();
    }
}
