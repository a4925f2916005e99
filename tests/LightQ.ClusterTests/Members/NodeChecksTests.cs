using LightQ.Cli.Clusters;
using LightQ.Cli.Doctor;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server.Diagnosis;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>What <c>lightq doctor --server</c> says of a cluster.</summary>
public sealed class NodeChecksTests
{
    [Fact]
    public async Task A_running_cluster_is_looked_at_through_one_of_its_brokers()
    {
        await using ForwardingCluster cluster = await ForwardingCluster.StartAsync();
        await cluster.SpreadAsync("orders");
        List<Finding> findings = await new DoctorJob(
            options: null,
            LightQClientOptions.Parse(cluster.A.ConnectionString),
            OutputFormat.Table
        ).FindAsync();
        Assert.DoesNotContain(findings, f => f.Result == CheckResult.Failed);
        Assert.Equal("2 alive: a leads 2, b leads 2", Of(findings, "cluster's nodes").Found);
        Assert.Equal("each of 4 has a leader, 4 have replicas", Of(findings, "cluster's partitions").Found);
    }

    [Fact]
    public void A_silent_broker_is_named_and_when_most_are_silent_the_one_that_answers_is_in_doubt()
    {
        Finding one = Of(Judge([Node("a"), Node("b"), Node("c", NodeState.Silent)]), "cluster's nodes");
        Assert.Equal((CheckResult.Warning, "1 of 3 is silent: c for 12 s"), (one.Result, one.Found));
        Finding most = Of(
            Judge([Node("a"), Node("b", NodeState.Silent), Node("c", NodeState.Silent)]),
            "cluster's nodes"
        );
        Assert.Equal((CheckResult.Failed, "a does not hear 2 of 3: b for 12 s, c for 12 s"), (most.Result, most.Found));
        Finding draining = Of(Judge([Node("a"), Node("b", NodeState.Draining)]), "cluster's nodes");
        Assert.Equal(CheckResult.Warning, draining.Result);
        Assert.StartsWith("b of 2 drains", draining.Found, StringComparison.Ordinal);
    }

    [Fact]
    public void A_partition_without_a_leader_an_old_server_and_brokers_of_several_versions_are_named()
    {
        List<Finding> findings =
        [
            .. NodeChecks.Judge(
                new ClusterInfo(
                    "shop",
                    "a",
                    "nats-server 2.9.10 at n1",
                    [Node("a"), Node("b") with { Version = "0.1.0" }],
                    [new("orders", 0, "a", 3, 3), new("orders", 1, null, 0, 3), new("till", 0, "b", 0, 1)]
                )
            ),
        ];
        Assert.Equal("they have several versions: 0.1.0, 0.2.0", Of(findings, "cluster's brokers").Found);
        Assert.Equal(CheckResult.Failed, Of(findings, "cluster's version").Result);
        Finding partitions = Of(findings, "cluster's partitions");
        Assert.Equal((CheckResult.Failed, "1 of 3 have no leader: orders/1"), (partitions.Result, partitions.Found));
        var starting = new ClusterInfo("shop", "a", "memory", [Node("a")], [new("orders", 1, null, 0, 3)])
        {
            IsListening = true,
        };
        Assert.Equal(CheckResult.Warning, Of([.. NodeChecks.Judge(starting)], "cluster's partitions").Result);
        Assert.Empty(NodeChecks.Judge(new ClusterInfo(null, "local", null, [Node("local")], [])));
    }

    [Fact]
    public void A_broker_can_be_stopped_when_all_others_are_there_and_nothing_is_wrong()
    {
        var whole = new ClusterInfo(
            "shop",
            "a",
            "memory",
            [Node("a"), Node("b")],
            [new("orders", 0, "a", 3, 3), new("till", 0, "b", 0, 1)]
        );
        Assert.Empty(UpgradeCheck.Judge(whole, null).Problems);
        Assert.Empty(UpgradeCheck.Judge(whole, "a").Problems);
        Assert.Empty(UpgradeCheck.Judge(whole, "a").Notes);
        Assert.Contains("till/0", Assert.Single(UpgradeCheck.Judge(whole, "b").Notes), StringComparison.Ordinal);
        Assert.Single(UpgradeCheck.Judge(whole, "c").Problems);
        Assert.Single(UpgradeCheck.Judge(whole with { IsListening = true }, "a").Problems);
        Assert.Single(UpgradeCheck.Judge(whole with { Partitions = [new("orders", 0, null, 3, 3)] }, "a").Problems);
        var condition = new ClusterConditionInfo("a", "stream-damaged", "orders/0", "gone", "repair", true);
        Assert.Single(UpgradeCheck.Judge(whole with { Conditions = [condition] }, "a").Problems);
        // It may be silent itself already: then nothing is left to be asked but the others.
        ClusterInfo silent = whole with
        {
            Nodes = [Node("a"), Node("b", NodeState.Silent)],
        };
        Assert.Empty(UpgradeCheck.Judge(silent, "b").Problems);
        Assert.Equal(2, UpgradeCheck.Judge(silent, "a").Problems.Count);
    }

    private static List<Finding> Judge(List<NodeInfo> nodes) =>
        [.. NodeChecks.Judge(new ClusterInfo("shop", "a", "memory", nodes, []))];

    private static NodeInfo Node(string name, NodeState state = NodeState.Alive) =>
        new(
            name,
            $"{name}:5700",
            $"{name}:5701",
            state,
            0,
            "0.2.0",
            state == NodeState.Silent ? TimeSpan.FromSeconds(12) : TimeSpan.Zero
        );

    private static Finding Of(List<Finding> findings, string check) => Assert.Single(findings, f => f.Check == check);
}
