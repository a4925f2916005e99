using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>
/// Replicated logs of three nodes on three nats-servers, under load: the partition is claimed from live owners, and
/// servers are killed. None stands still: before 2.11 a stream's leader that wakes may put back what others have
/// replaced (docs/design/cluster.md), which no reader can mend.
/// </summary>
[Collection(NatsTests.Name)]
public sealed class JetStreamLogTests(NatsFixture nats)
{
    private const int Nodes = 3;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public Task Claims_against_live_owners_lose_and_double_nothing() =>
        RunAsync(batches: 300, claims: 20, DisturbNothingAsync);

    [Fact]
    [Trait("Fault", "C11")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Two_hundred_claims_against_live_owners_lose_and_double_nothing()
    {
        FaultRun.RequireTier("It claims a partition 200 times.");
        int claims = FaultRun.Times(c: 200, n: 1_000);
        var run = new FaultRun(
            "C11",
            $"nodes claim a partition from live owners under load; nats-server {await nats.Cluster.ReadVersionAsync()}"
        );
        StreamChecker checker = await RunAsync(batches: 15 * claims, claims, DisturbNothingAsync);
        run.Count("claims tried", claims);
        run.Count("acknowledged", 60 * claims);
        run.Figure("claims", checker.Epoch);
        run.Figure("void entries", checker.Void);
        run.Report();
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task Servers_that_are_killed_cost_no_batch()
    {
        FaultRun.RequireTier("The servers elect a leader, which takes them some ten seconds.");
        return RunAsync(batches: 3_000, claims: 20, DisturbServersAsync);
    }

    private static Task DisturbNothingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private async Task DisturbServersAsync(CancellationToken cancellationToken)
    {
        for (int server = 0; server < NatsCluster.Servers; server++)
        {
            await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
            await nats.Cluster.KillAsync(server);
            await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken);
            nats.Cluster.Start(server);
            await nats.Cluster.WaitUntilReadyAsync(); // With what the others have: they are killed next.
        }
    }

    /// <param name="batches">How many each of four producers publishes.</param>
    /// <param name="claims">How many claims there are besides those that the loss of an owner asks for.</param>
    /// <param name="disturb">What happens to the servers meanwhile.</param>
    /// <returns>What is stored.</returns>
    private async Task<StreamChecker> RunAsync(int batches, int claims, Func<CancellationToken, Task> disturb)
    {
        string name = $"LQ_log_{Guid.NewGuid():N}";
        List<JetStreamEngine> engines = [];
        List<TemporaryDirectory> directories = [];
        List<ReplicaNode> nodes = [];
        try
        {
            for (int i = 0; i < Nodes; i++)
            {
                JetStreamEngine engine = await nats.ConnectAsync(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1));
                engines.Add(engine);
                if (i == 0)
                    await engine.CreateStreamAsync(name, 3, Cancelled);
                directories.Add(new TemporaryDirectory());
                nodes.Add(new ReplicaNode($"n{i}", engine.GetStream(name), directories[i].Path, engine.MaxEntryBytes));
            }
            await nodes[0].ClaimAsync(Cancelled);
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
            Task disturbing = disturb(Cancelled);
            Task claiming = LogTraffic.ClaimAsync([.. nodes], claims, new Random(7), stop.Token);
            Dictionary<ulong, IReadOnlyList<long>> acknowledged = await LogTraffic.PublishAsync(
                [.. nodes],
                producers: 4,
                batches
            );
            await disturbing;
            await stop.CancelAsync();
            await claiming;
            await nats.Cluster.HealAsync();

            // Nothing that these nodes store is ever removed, so what a server lacks is the engine's loss.
            foreach (ReplicaState replica in await nats.Cluster.ReadReplicasAsync(name))
            {
                Assert.True(
                    replica.First == 1 && replica.Messages == replica.Last,
                    $"nats-server {await nats.Cluster.ReadVersionAsync()} has lost entries: {replica}"
                );
            }

            List<StreamEntry> entries = [];
            await using JetStreamEngine reader = await nats.ConnectAsync();
            await foreach (StreamEntry entry in reader.GetStream(name).ReadAsync(1, ulong.MaxValue, Cancelled))
                entries.Add(entry);
            Assert.Equal(Enumerable.Range(1, entries.Count), entries.Select(entry => (int)entry.Sequence));
            var checker = new StreamChecker(entries);
            checker.Check(acknowledged);
            Assert.Equal(0, checker.Void); // One append is under way: nothing fits behind a claim.
            Assert.True(checker.Epoch >= 2, "Nobody took the partition over.");
            foreach (ReplicaNode node in nodes)
                checker.CheckNode(node);
            TestContext.Current.TestOutputHelper?.WriteLine(
                $"{checker.Log.Count} batches in {entries.Count} entries, {checker.Epoch} owners, "
                    + $"{checker.Snapshots} snapshots"
            );
            return checker;
        }
        finally
        {
            await nats.Cluster.HealAsync();
            foreach (ReplicaNode node in nodes)
                await node.DisposeAsync();
            foreach (JetStreamEngine engine in engines)
                await engine.DisposeAsync();
            foreach (TemporaryDirectory directory in directories)
                directory.Dispose();
        }
    }
}
