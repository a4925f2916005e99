using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests;
using LightQ.Server;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>
/// Two brokers with a disk each that own the same partitions in turn, over streams and a catalog that they share.
/// </summary>
internal sealed class FailoverHost : IAsyncDisposable
{
    private const LightQ.Broker.Topics.TopicKind Durable = LightQ.Broker.Topics.TopicKind.Durable;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly TemporaryDirectory[] _directories = [new(), new()];
    private readonly IReplicationEngine[] _engines;
    private readonly LightQServer?[] _servers = new LightQServer?[2];
    private readonly LightQClient?[] _clients = new LightQClient?[2];

    private FailoverHost(IReplicationEngine[] engines) => _engines = engines;

    /// <summary>Which of them is the owner.</summary>
    public int Owner { get; private set; }

    public LightQBroker Broker => _servers[Owner]!.Broker;

    public LightQClient Client => _clients[Owner]!;

    public MemoryEngine Engine => (MemoryEngine)_engines[Owner];

    /// <summary>The streams of partitions.</summary>
    public IEnumerable<string> Streams =>
        Engine.Names.Where(name => !name.EndsWith("_catalog", StringComparison.Ordinal));

    public Topic Topic => Broker.GetTopic("orders");

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Starts the first broker, with a topic.</summary>
    public static Task<FailoverHost> StartAsync(Func<TopicSettings, TopicSettings>? shape = null)
    {
        var engine = new MemoryEngine();
        return StartAsync([engine, engine.Connect()], shape);
    }

    /// <summary>Likewise, over engines of the caller: one for each broker.</summary>
    public static async Task<FailoverHost> StartAsync(
        IReplicationEngine[] engines,
        Func<TopicSettings, TopicSettings>? shape = null
    )
    {
        var host = new FailoverHost(engines);
        await host.StartAsync(0);
        var settings = new TopicSettings { Kind = Durable, Replicas = 3 };
        await Task.Run(() => host.Broker.CreateTopic("orders", shape?.Invoke(settings) ?? settings), Cancelled);
        return host;
    }

    /// <summary>Cuts the owner off from the streams, as when it crashes, and lets the other broker take over.</summary>
    public async Task FailOverAsync()
    {
        Engine.Cut();
        foreach (Partition partition in Broker.Topics.SelectMany(topic => topic.Partitions))
        {
            // An owner finds out when it appends something.
            partition.Positions?.Set("probe", 0, []);
            partition.Positions?.Request();
        }
        await Eventually.TrueAsync(
            () => Broker.Topics.All(topic => topic.IsIncomplete),
            Patience,
            () => "The owner does not find out."
        );
        Owner = 1 - Owner;
        if (_servers[Owner] is null)
        {
            await StartAsync(Owner);
        }
        Engine.Heal();
        await OwnedAsync();
    }

    /// <summary>Stops the owner, and lets the other broker take over.</summary>
    public async Task HandOverAsync()
    {
        int before = Owner;
        await _clients[before]!.DisposeAsync();
        await _servers[before]!.DisposeAsync();
        (_clients[before], _servers[before]) = (null, null);
        Owner = 1 - Owner;
        await StartAsync(Owner);
        await OwnedAsync();
    }

    /// <summary>Returns when what the groups have settled is in the streams.</summary>
    public Task StoreAsync() =>
        Task.Run(
            () =>
            {
                foreach (Partition partition in Topic.Partitions)
                    Broker.Groups.Keep(partition);
                Broker.Groups.Flush(Topic);
            },
            Cancelled
        );

    public async Task PublishAsync(int first, int count)
    {
        await using Producer producer = await Client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = "shop" },
            Cancelled
        );
        for (int i = first; i < first + count; i++)
            await producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: Cancelled);
    }

    /// <summary>
    /// A member that takes messages, gives what is asked for of them, and completes some before it leaves.
    /// </summary>
    public async Task<List<(int Number, int Deliveries)>> WorkAsync(string group, int count, Func<int, bool> completes)
    {
        List<(int, int)> taken = [];
        await foreach (Message message in Client.ConsumeAsync("orders", Explicit(group), Cancelled))
        {
            int number = BitConverter.ToInt32(message.BodySpan);
            taken.Add((number, message.DeliveryCount));
            if (completes(number))
                Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancelled));
            if (taken.Count == count)
                break;
        }
        return taken;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (LightQClient? client in _clients)
        {
            if (client is not null)
                await client.DisposeAsync();
        }
        foreach (LightQServer? server in _servers)
        {
            if (server is not null)
                await server.DisposeAsync();
        }
        foreach (TemporaryDirectory directory in _directories)
            directory.Dispose();
    }

    private static ConsumeOptions Explicit(string group) =>
        new()
        {
            Group = group,
            Start = StartPosition.Earliest,
            SettleMode = SettleMode.Explicit,
        };

    private async Task StartAsync(int node)
    {
        _servers[node] = await LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = _directories[node].Path,
                Broker = new BrokerOptions
                {
                    Replication = new ReplicationOptions
                    {
                        Engine = _engines[node],
                        Cluster = "shop",
                        Node = $"n{node}",
                    },
                },
            },
            cancellationToken: Cancelled
        );
        _clients[node] = new LightQClient(LightQClientOptions.Parse(_servers[node]!.ConnectionString));
    }

    private Task OwnedAsync() =>
        Eventually.TrueAsync(
            () => Broker.Topics.All(topic => !topic.IsIncomplete),
            Patience,
            () => string.Join("; ", Broker.Topics.Select(topic => topic.Failure))
        );
}
