using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>The node that takes a partition over reads what it lacks while the leader still takes messages.</summary>
[Collection(NatsTests.Name)]
public sealed class TakerTests(NatsFixture nats)
{
    private const int BodyBytes = 512 * 1024;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Producers_do_not_wait_while_a_node_with_an_empty_journal_reads_200_MiB()
    {
        FaultRun.RequireTier("It reads 200 MiB.");
        var shared = new MemoryEngine();
        await MoveAsync(() => new(shared.Connect()), messages: 400);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Nor_do_they_on_JetStream()
    {
        FaultRun.RequireTier("It reads 200 MiB from servers.");
        _ = nats.Cluster;
        await MoveAsync(async () => await nats.ConnectAsync(), messages: 100);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Nor_do_they_when_a_node_stops()
    {
        FaultRun.RequireTier("It takes ten seconds.");
        var shared = new MemoryEngine();
        await MoveAsync(() => new(shared.Connect()), messages: 100, isStop: true);
    }

    [Fact]
    public async Task It_knows_the_ids_of_its_journal_and_of_what_it_has_read()
    {
        var shared = new MemoryEngine();
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions { Silence = TimeSpan.FromSeconds(5) },
            () => new(shared.Connect()),
            "a",
            "b"
        );
        await cluster.CreateAsync("ids", partitions: 1, dedupWindow: TimeSpan.FromHours(1));
        await using LightQClient client = cluster.Connect();
        string[] leaders = [cluster.LeaderOf("ids", 0)!, cluster.Names.First(n => n != cluster.LeaderOf("ids", 0))];
        for (int i = 0; i < 5; i++)
        {
            // Of these ids the leader has published every second one itself.
            await using Producer producer = await client.CreateProducerAsync("ids", cancellationToken: Cancelled);
            for (int id = 0; id <= i; id++)
            {
                PublishAck ack = await producer.PublishAsync(
                    "body"u8.ToArray(),
                    new PublishOptions { MessageId = FormattableString.Invariant($"id {id}") },
                    cancellationToken: Cancelled
                );
                Assert.Equal(id != i, ack.IsDuplicate);
            }
            Assert.Equal(
                i + 1,
                cluster[cluster.LeaderOf("ids", 0)!].Broker.GetTopic("ids").Partitions[0].RememberedIds
            );
            await cluster.MoveAsync("ids", 0, leaders[(i + 1) % 2]);
        }
    }

    private static async Task MoveAsync(Func<ValueTask<IReplicationEngine>> connect, int messages, bool isStop = false)
    {
        List<CountingEngine> engines = [];
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions { Silence = TimeSpan.FromSeconds(5), NextTakerAtStop = TimeSpan.FromMinutes(1) },
            async () =>
            {
                engines.Add(new CountingEngine(await connect()));
                return engines[^1];
            },
            "a",
            "b"
        );
        await cluster.CreateAsync("big", partitions: 1);
        string leader = cluster.LeaderOf("big", 0)!,
            taker = leader == "a" ? "b" : "a";
        CountingEngine writes = engines[leader == "a" ? 0 : 1],
            reads = engines[taker == "a" ? 0 : 1];
        await using LightQClient client = cluster.Connect();
        var publishing = new Publishing("big", 0, BodyBytes, messages);
        using var stop = new CancellationTokenSource();
        Task running = publishing.RunAsync(client, stop.Token);
        await Eventually.TrueAsync(
            () => publishing.Acknowledged >= messages,
            Patience,
            () => $"{publishing.Acknowledged} of {messages} messages are acknowledged."
        );

        // Producers are held from some time behind the leader's last data to the taker's claim.
        long empty = reads.EntriesRead,
            atLastData = 0,
            atClaim = 0;
        writes.OnStored = kind => atLastData = kind == EntryKind.Data ? reads.EntriesRead : atLastData;
        reads.OnStored = kind => atClaim = kind == EntryKind.Claim ? reads.EntriesRead : atClaim;
        if (isStop)
            await cluster[leader].Broker.Replicas.LeaveAsync(Patience);
        else
            await cluster.MoveAsync("big", 0, taker);
        long acknowledged = publishing.Acknowledged;
        await Eventually.TrueAsync(
            () => cluster.LeaderOf("big", 0) == taker && publishing.Acknowledged > acknowledged,
            Patience,
            () => "The producer does not go on."
        );
        await stop.CancelAsync();
        await running;
        Assert.True(atClaim - empty > messages / 2, $"The taker read {atClaim - empty} entries.");
        // Else it would have read all of it then.
        Assert.InRange(atClaim - atLastData, 1, (atClaim - empty) / 2);
    }
}
