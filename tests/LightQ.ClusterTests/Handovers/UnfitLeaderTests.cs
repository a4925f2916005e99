using LightQ.Broker.Cluster;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>A leader that cannot serve its partitions: one that can leads them, and gives them back.</summary>
public sealed class UnfitLeaderTests
{
    private const int IOError = 5,
        NoSpace = 28;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private static readonly MemberOptions Options = new()
    {
        FitAgain = TimeSpan.FromMilliseconds(200),
        WantAgain = TimeSpan.FromSeconds(1),
    };

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_full_disk_costs_its_node_the_partitions_until_there_is_room_and_no_message_fails()
    {
        var engine = new MemoryEngine();
        await using ServerCluster cluster = await StartAsync(engine, "a", "b", "c");
        await cluster.CreateAsync("orders", partitions: 3);
        string full = cluster.LeaderOf("orders", 0)!;
        await using LightQClient client = cluster.Connect();
        await using Producer producer = await OpenAsync(client);
        await PublishAsync(producer);

        Fill(cluster, full);
        await PublishUntilAsync(
            cluster,
            producer,
            () => LedBy(cluster).All(leader => leader is not null && leader != full)
        );
        Assert.All(cluster.Names, name => Assert.True(cluster[name].Broker.Replicas.Members!.Find(full)!.IsUnfit));
        Assert.Contains(Conditions(cluster, full), c => c.Kind == ConditionKind.DiskFull.Name);

        Empty(cluster, full);
        await PublishUntilAsync(cluster, producer, () => LedBy(cluster).Contains(full));
        Assert.Empty(Conditions(cluster, full));
    }

    [Fact]
    public async Task When_no_node_has_room_the_partitions_stay_and_producers_are_told()
    {
        var engine = new MemoryEngine();
        await using ServerCluster cluster = await StartAsync(engine, "a", "b");
        await cluster.CreateAsync("orders", partitions: 1);
        await using LightQClient client = cluster.Connect();
        await using Producer producer = await OpenAsync(client);
        await PublishAsync(producer);
        Fill(cluster, "a", "b");
        await Eventually.TrueAsync(
            () => cluster.Names.All(name => cluster[name].Broker.Replicas.Members!.IsUnfit),
            Patience,
            () => "They do not notice."
        );
        string leader = cluster.LeaderOf("orders", 0)!;
        int claims = Claims(engine);
        await Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    await PublishAsync(producer);
                    return false;
                }
                catch (LightQException e) when (e.Code == ErrorCode.DiskFull)
                {
                    return true;
                }
            },
            Patience,
            () => "Nobody tells it."
        );
        Assert.Equal((leader, claims), (cluster.LeaderOf("orders", 0), Claims(engine)));

        Empty(cluster, "a", "b");
        await Eventually.TrueAsync(() => Takes(cluster, leader), Patience, () => Describe(cluster));
        await PublishUntilAsync(
            cluster,
            producer,
            () => cluster.Names.All(name => Conditions(cluster, name).Length == 0)
        );
    }

    [Fact]
    public async Task A_journal_that_fails_costs_its_node_the_partition_and_producers_hear_nothing_of_it()
    {
        var engine = new MemoryEngine();
        await using ServerCluster cluster = await StartAsync(engine, "a", "b");
        await cluster.CreateAsync("orders", partitions: 1);
        string broken = cluster.LeaderOf("orders", 0)!;
        await using LightQClient client = cluster.Connect();
        await using Producer producer = await OpenAsync(client);
        await PublishAsync(producer);

        cluster.FilesOf(broken).Before = static (operation, path) =>
        {
            if (operation is "write" or "sync" && IsOfTopic(path))
                throw new StorageIOException(operation, path, IOError);
        };
        await PublishUntilAsync(
            cluster,
            producer,
            () => cluster.LeaderOf("orders", 0) is { } leader && leader != broken && Takes(cluster, leader)
        );
        Assert.Contains(Conditions(cluster, broken), c => c.Kind == ConditionKind.CopyFailed.Name);

        cluster.FilesOf(broken).Before = static (_, _) => { };
        await PublishUntilAsync(
            cluster,
            producer,
            () => Conditions(cluster, broken).Length == 0 && cluster.LeaderOf("orders", 0) == broken
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_node_that_cannot_read_the_catalog_leads_nothing_that_another_can_lead()
    {
        FaultRun.RequireTier("A catalog is taken for unread after five seconds.");
        var engine = new MemoryEngine();
        Dictionary<string, MemoryEngine> engines = [];
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            Options,
            () => new(engines["abc"[engines.Count].ToString()] = engine.Connect()),
            "a",
            "b",
            "c"
        );
        await cluster.CreateAsync("orders", partitions: 3);
        string cut = cluster.LeaderOf("orders", 0)!;
        engines[cut].CutStream("LQ_hand_catalog");
        await Eventually.TrueAsync(
            () => LedBy(cluster).All(leader => leader is not null && leader != cut),
            Patience,
            () => $"{cut} still leads {string.Join(' ', LedBy(cluster))}"
        );
        engines[cut].Heal();
        await Eventually.TrueAsync(() => LedBy(cluster).Contains(cut), Patience, () => "It does not lead again.");
    }

    private static Task<ServerCluster> StartAsync(MemoryEngine engine, params string[] names) =>
        ServerCluster.StartAsync(Options, () => new(engine.Connect()), names);

    private static string?[] LedBy(ServerCluster cluster) =>
        [.. Enumerable.Range(0, 3).Select(i => cluster.LeaderOf("orders", i))];

    private static ClusterCondition[] Conditions(ServerCluster cluster, string node) =>
        [.. cluster[node].Broker.Replicas.Members!.Conditions.Told];

    private static int Claims(MemoryEngine engine) =>
        engine.Names.Sum(name => engine[name].Entries.Count(e => e.Kind == Broker.Replication.EntryKind.Claim));

    private static bool Takes(ServerCluster cluster, string node) =>
        cluster[node].Broker.GetTopic("orders").Partitions[0].Log is { Failure: null, IsDiskFull: false };

    private static bool IsOfTopic(string path) =>
        path.Contains($"{Path.DirectorySeparatorChar}topics{Path.DirectorySeparatorChar}", StringComparison.Ordinal);

    private static void Fill(ServerCluster cluster, params string[] names)
    {
        foreach (string name in names)
        {
            FaultyFileSystem files = cluster.FilesOf(name);
            files.Free = 0;
            files.Before = static (operation, path) =>
            {
                if (operation is "write" or "allocate" && IsOfTopic(path))
                    throw new StorageIOException(operation, path, NoSpace);
            };
        }
    }

    private static void Empty(ServerCluster cluster, params string[] names)
    {
        foreach (string name in names)
            (cluster.FilesOf(name).Free, cluster.FilesOf(name).Before) = (null, static (_, _) => { });
    }

    private static Task<Producer> OpenAsync(LightQClient client) =>
        client.CreateProducerAsync("orders", new ProducerOptions { Name = "till" }, Cancelled);

    private static string Describe(ServerCluster cluster) =>
        string.Join(
            '\n',
            from name in cluster.Names
            let members = cluster[name].Broker.Replicas.Members!
            let topic = cluster[name].Broker.GetTopic("orders")
            from partition in topic.Partitions
            let now = members.Of(new PartitionId(topic.Id, partition.Index))
            select $"{name}, {partition.Index}: {(now.IsLed ? now.Leader : "none")} in {now.Epoch}, {now.Fit} of "
                + $"{string.Join(' ', now.Ranking)}, wanted {now.IsWanted}, to {now.NextLeader}, "
                + $"takers {string.Join(' ', now.Takers)}, {members.MayClaim}, "
                + string.Join(' ', members.Conditions.Told.Select(c => c.Detail))
        );

    private static async Task PublishAsync(Producer producer) =>
        await producer.PublishAsync("m"u8.ToArray(), cancellationToken: Cancelled);

    private static async Task PublishUntilAsync(ServerCluster cluster, Producer producer, Func<bool> isDone)
    {
        int published = 0;
        await Eventually.TrueAsync(
            async () =>
            {
                await PublishAsync(producer);
                published++;
                return isDone();
            },
            Patience,
            () => $"It did not come, after {published} messages.\n{Describe(cluster)}"
        );
    }
}
