using LightQ.Broker.Cluster;
using LightQ.Client;
using LightQ.ClusterTests.Handovers;
using LightQ.ClusterTests.Log;
using LightQ.ClusterTests.Nats;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Producers;

/// <summary>
/// A named producer is opened again as often as its program starts, on topics with several partitions.
/// </summary>
[Collection(NatsTests.Name)]
public sealed class ReopenedProducerTests(NatsFixture nats)
{
    private const string Topic = "orders";

    private static readonly TimeSpan Late = TimeSpan.FromMilliseconds(300);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_named_producer_is_opened_again_however_late_nodes_hear_of_the_catalog()
    {
        FaultRun.RequireTier("What is late takes ten seconds in all.");
        var shared = new MemoryEngine();
        List<MemoryEngine> engines = [];
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions { Silence = TimeSpan.FromSeconds(2) },
            () =>
            {
                engines.Add(shared.Connect());
                return new(engines[^1]);
            },
            "a",
            "b",
            "c"
        );
        await StartAsync(cluster);
        engines.ForEach(e => e.DelayReads("LQ_hand_catalog", Late));
        await ReopenAsync(cluster, times: 3);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Nor_does_it_matter_on_JetStream()
    {
        FaultRun.RequireTier("Three servers open a producer ten times.");
        _ = nats.Cluster;
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions { Silence = TimeSpan.FromSeconds(2) },
            async () => await nats.ConnectAsync(),
            "a",
            "b",
            "c"
        );
        await StartAsync(cluster);
        await ReopenAsync(cluster, times: 10);
        await cluster["a"].Broker.DeleteTopicAsync(Topic, Cancelled);
    }

    [Fact]
    public async Task The_one_that_has_a_name_is_fenced_by_the_next_and_stays_so()
    {
        var shared = new MemoryEngine();
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions { Silence = TimeSpan.FromSeconds(2) },
            () => new(shared.Connect()),
            "a",
            "b"
        );
        await StartAsync(cluster);
        await using LightQClient client = cluster.Connect(),
            // Its clock is behind, and so are the numbers that it begins with.
            slow = new(client.Options with { TimeProvider = new LateClock() });
        await using Producer first = await OpenAsync(client),
            second = await OpenAsync(slow);
        await PublishAsync(second);
        LightQException fenced = await Assert.ThrowsAnyAsync<LightQException>(async () =>
        {
            while (true)
                await PublishAsync(first);
        });
        Assert.Equal(ErrorCode.Fenced, fenced.Code);
        await PublishAsync(second);
    }

    private static async Task StartAsync(ServerCluster cluster)
    {
        await cluster.CreateAsync(Topic, partitions: 4);
        for (int i = 0; i < 4; i++)
            await cluster.MoveAsync(Topic, i, cluster.Names.ElementAt(i % cluster.Names.Count));
    }

    private static async Task ReopenAsync(ServerCluster cluster, int times)
    {
        await using LightQClient client = cluster.Connect();
        for (int i = 0; i < times; i++)
        {
            await using Producer producer = await OpenAsync(client);
            await PublishAsync(producer);
        }
    }

    private static Task<Producer> OpenAsync(LightQClient client) =>
        client.CreateProducerAsync(Topic, new ProducerOptions { Name = "importer" }, Cancelled);

    private static async Task PublishAsync(Producer producer)
    {
        for (int i = 0; i < 8; i++)
        {
            await producer.PublishAsync(
                "body"u8.ToArray(),
                key: FormattableString.Invariant($"key{i}"),
                cancellationToken: Cancelled
            );
        }
    }

    /// <summary>An hour behind.</summary>
    private sealed class LateClock : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() - TimeSpan.FromHours(1);
    }
}
