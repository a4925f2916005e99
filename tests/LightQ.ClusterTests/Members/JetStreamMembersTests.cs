using LightQ.Broker.Cluster;
using LightQ.ClusterTests.Nats;
using LightQ.Replication.Nats;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Brokers that watch each other over real nats-servers.</summary>
[Collection(NatsTests.Name)]
public sealed class JetStreamMembersTests(NatsFixture nats)
{
    private static readonly MemberOptions Options = new()
    {
        Silence = TimeSpan.FromSeconds(2),
        LongestHandover = TimeSpan.FromSeconds(1),
    };

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Partitions_move_when_a_node_joins_and_when_one_dies()
    {
        FaultRun.RequireTier("Nodes join and die, and each waits to be sure.");
        _ = nats.Cluster;
        Dictionary<string, JetStreamEngine> engines = [];
        try
        {
            await using var cluster = new TestCluster(Options);
            foreach (string name in (string[])["a", "b", "c"])
                engines[name] = await nats.ConnectAsync();
            await cluster.CreateAsync(engines["a"]);
            await cluster.StartAsync("a", engines["a"]);
            await cluster.StartAsync("b", engines["b"]);
            await cluster.PlacedAsync("a", "b");
            await cluster.AppendAsync(TestCluster.All);

            await cluster.StartAsync("c", engines["c"]);
            await cluster.PlacedAsync("a", "b", "c");
            Assert.All(TestCluster.All, i => Assert.Equal(1, cluster.Led(i).Log.EndOffset));
            await cluster.AppendAsync(TestCluster.All);

            await engines["b"].DisposeAsync(); // As if its machine were gone.
            await cluster.PlacedAsync("a", "c");
            // Not where it is led alone: b may not know yet what it has lost.
            Assert.All(
                TestCluster.All,
                i => Assert.Equal(2, cluster[cluster.Of("a", i).Leader].Topic.Partitions[(int)i].Log.EndOffset)
            );
        }
        finally
        {
            foreach (JetStreamEngine engine in engines.Values)
                await engine.DisposeAsync();
        }
    }
}
