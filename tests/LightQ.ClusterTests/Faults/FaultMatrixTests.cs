using LightQ.Client;
using LightQ.ClusterTests.Nats;
using LightQ.Tests.Shared;
using Xunit;
using Xunit.Sdk;

namespace LightQ.ClusterTests.Faults;

/// <summary>
/// The rows C1 to C10 and C12 of the fault matrix: three brokers on three nats-servers, under load.
/// Nothing that was acknowledged is lost, doubled or out of order.
/// </summary>
[Collection(NatsTests.Name)]
public sealed class FaultMatrixTests(BrokerClusterFixture fixture) : IClassFixture<BrokerClusterFixture>
{
    private static readonly TimeSpan BetweenFaults = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(FaultRun.Times(c: 4, n: 20)),
        Cut = TimeSpan.FromSeconds(FaultRun.Times(c: 4, n: 12));

    private BrokerCluster Cluster => fixture.Cluster;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Fault", "C1")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task The_leader_of_a_partition_is_killed()
    {
        FaultRun.RequireTier("Three brokers start.");
        return RunAsync(
            ("C1", "the leader of a partition is killed"),
            FaultRun.Times(c: 3, n: 50),
            async load =>
            {
                ClusterBroker leader = await Cluster.LeaderAsync(load.Topic);
                await leader.KillAsync();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C2")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task The_leader_stands_still_and_wakes()
    {
        FaultRun.RequireTier("A process stands still for some seconds.");
        return RunAsync(
            ("C2", "the leader of a partition stands still and wakes"),
            FaultRun.Times(c: 1, n: 10),
            async load =>
            {
                ClusterBroker leader = await Cluster.LeaderAsync(load.Topic);
                await leader.StopAsync();
                await Task.Delay(Pause, Cancelled);
                await leader.ContinueAsync();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C3")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task The_leader_is_cut_off_from_the_replicated_log()
    {
        FaultRun.RequireTier("A node is cut off for some seconds.");
        return RunAsync(
            ("C3", "the leader of a partition is cut off from the replicated log, and what it sent comes late"),
            FaultRun.Times(c: 1, n: 10),
            async load =>
            {
                ClusterBroker leader = await Cluster.LeaderAsync(load.Topic);
                leader.CutFromEngine();
                await Task.Delay(Cut, Cancelled);
                leader.Heal();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C4")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task The_leader_is_cut_off_from_its_clients()
    {
        FaultRun.RequireTier("A node is cut off for some seconds.");
        return RunAsync(
            ("C4", "the leader of a partition is cut off from clients only"),
            FaultRun.Times(c: 1, n: 5),
            async load =>
            {
                ClusterBroker leader = await Cluster.LeaderAsync(load.Topic);
                leader.CutFromClients();
                await Task.Delay(Cut, Cancelled);
                leader.Heal();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C5")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task A_server_of_the_replicated_log_is_killed()
    {
        FaultRun.RequireTier("The servers elect a leader, which takes them some seconds.");
        int server = 0;
        return RunAsync(
            ("C5", "a nats-server is killed and started again, each in turn"),
            FaultRun.Times(c: 3, n: 10),
            async _ =>
            {
                int killed = server++ % NatsCluster.Servers;
                await Cluster.Engine.KillAsync(killed);
                await Task.Delay(BetweenFaults, Cancelled);
                Cluster.Engine.Start(killed);
                await Cluster.Engine.WaitUntilReadyAsync();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C6")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task All_servers_of_the_replicated_log_are_killed()
    {
        FaultRun.RequireTier("The servers elect leaders, which takes them some seconds.");
        return RunAsync(
            ("C6", "all nats-servers are killed and started again"),
            FaultRun.Times(c: 1, n: 5),
            async _ =>
            {
                for (int server = 0; server < NatsCluster.Servers; server++)
                    await Cluster.Engine.KillAsync(server);
                await Cluster.Engine.HealAsync();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C7")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task All_brokers_are_killed()
    {
        FaultRun.RequireTier("Three brokers start again.");
        return RunAsync(
            ("C7", "all brokers are killed and started again"),
            FaultRun.Times(c: 1, n: 5),
            async _ =>
            {
                await Task.WhenAll(Cluster.Brokers.Select(broker => broker.KillAsync()));
                await Task.WhenAll(Cluster.Brokers.Select(broker => broker.StartAsync()));
            }
        );
    }

    [Fact]
    [Trait("Fault", "C8")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task Brokers_stop_and_start_one_after_the_other()
    {
        FaultRun.RequireTier("Three brokers start again.");
        int next = 0;
        return RunAsync(
            ("C8", "brokers are stopped with SIGTERM and started again, one after the other"),
            FaultRun.Times(c: 3, n: 15),
            async _ =>
            {
                ClusterBroker broker = Cluster.Brokers[next++ % Cluster.Brokers.Count];
                Assert.Equal(0, await broker.TerminateAsync());
                await broker.StartAsync();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C9")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Brokers_are_drained_one_after_the_other()
    {
        FaultRun.RequireTier("Three brokers start again.");
        await using LightQClient client = Cluster.Connect();
        int next = -1;
        await RunAsync(
            ("C9", "brokers are drained, one after the other"),
            FaultRun.Times(c: 3, n: 15),
            async _ =>
            {
                next = (next + 1) % Cluster.Brokers.Count;
                int left = -1;
                await foreach (int partitions in client.Cluster.DrainAsync(Cluster.Brokers[next].Name, Cancelled))
                    left = partitions;
                Assert.Equal(0, left);
            },
            async () =>
            {
                Assert.Equal(0, await Cluster.Brokers[next].TerminateAsync());
                await Cluster.Brokers[next].StartAsync();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C10")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task The_leader_is_cut_off_from_the_other_nodes()
    {
        FaultRun.RequireTier("A node is cut off for some seconds.");
        return RunAsync(
            ("C10", "the leader of a partition and the other nodes do not hear each other, and the log hears all"),
            FaultRun.Times(c: 1, n: 5),
            async load =>
            {
                ClusterBroker leader = await Cluster.LeaderAsync(load.Topic);
                leader.CutFromNodes();
                await Cluster.LedElsewhereAsync(load.Topic, leader);
                await load.GoesOnAsync();
                await Task.Delay(Cut, Cancelled);
                leader.Heal();
            }
        );
    }

    [Fact]
    [Trait("Fault", "C12")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_server_of_the_replicated_log_stands_still()
    {
        FaultRun.RequireTier("A server stands still for some seconds.");
        string version = await Cluster.Engine.ReadVersionAsync();
        Assert.SkipWhen(
            Version.Parse(version.Split('-')[0]) < new Version(2, 11),
            $"nats-server {version} takes entries from leaders of the past (nats-server#5661)."
        );
        int server = 0;
        await RunAsync(
            ("C12", "a nats-server stands still and wakes, each in turn"),
            FaultRun.Times(c: 1, n: 5),
            async _ =>
            {
                int stopped = server++ % NatsCluster.Servers;
                await Cluster.Engine.StopAsync(stopped);
                await Task.Delay(Pause, Cancelled);
                await Cluster.Engine.ContinueAsync(stopped);
                await Cluster.Engine.WaitUntilReadyAsync();
            }
        );
    }

    /// <param name="row">The row, and what it does.</param>
    /// <param name="times">How often the fault happens.</param>
    /// <param name="fault">Does it, and undoes it unless healing the cluster does.</param>
    /// <param name="restore">Undoes what healing the cluster does not; null for nothing.</param>
    private async Task RunAsync(
        (string Id, string Fault) row,
        int times,
        Func<ClusterLoad, Task> fault,
        Func<Task>? restore = null
    )
    {
        string version = await Cluster.Engine.ReadVersionAsync();
        var run = new FaultRun(row.Id, $"{row.Fault}; nats-server {version}");
        await Cluster.HealAsync(); // Another row may have failed.
        Cluster.Witness.Clear();
        string topic = FormattableString.Invariant($"row-{Guid.NewGuid():N}");
        await using ClusterLoad load = await ClusterLoad.StartAsync(Cluster, topic);
        List<TimeSpan> silences = []; // Of each fault that of the producer that waited longest.
        Verdict verdict;
        try
        {
            for (int i = 0; i < times; i++)
            {
                await Task.Delay(BetweenFaults, Cancelled);
                load.TakeSilences();
                await fault(load);
                await load.GoesOnAsync();
                silences.Add(load.TakeSilences().Max());
                if (restore is not null)
                    await restore();
                await Cluster.HealAsync(topic);
            }
            verdict = await load.JudgeAsync();
        }
        catch (Exception e) when (e is XunitException or LightQException)
        {
            // What the servers themselves forgot is theirs; anything else, and all that stands in front of it, is ours.
            string dropped = await load.DescribeDroppedAsync();
            if (dropped.Length == 0)
                throw;
            Assert.Skip(
                $"nats-server {version} does not have what it had confirmed or delivered: {dropped}. Then: {e.Message}"
            );
            throw;
        }
        TimeSpan[] sorted = [.. silences.Order()];
        run.Count("faults", times);
        run.Count("acknowledged", verdict.Acknowledged);
        run.Figure("claims", verdict.Epochs);
        run.Figure("void entries", verdict.Void);
        run.Figure("redelivered to the group", verdict.Redelivered);
        run.Figure("silence p50 ms", (long)sorted[sorted.Length / 2].TotalMilliseconds);
        run.Figure("silence p99 ms", (long)sorted[(int)Math.Ceiling(0.99 * sorted.Length) - 1].TotalMilliseconds);
        run.Report();
        await using LightQClient client = Cluster.Connect();
        await client.Topics.DeleteAsync(topic, Cancelled);
    }
}
