using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Several brokers over an engine in memory: who leads what when nodes come and go.</summary>
public sealed class LeadershipTests : IAsyncLifetime
{
    /// <summary>
    /// Longer than by default, so that a machine that stands still for a moment kills no node, and nobody claims what
    /// another is about to.
    /// </summary>
    private static readonly MemberOptions Options = new()
    {
        Silence = TimeSpan.FromSeconds(2),
        NextChoice = TimeSpan.FromSeconds(5),
        TakeUp = TimeSpan.FromSeconds(5),
        LongestHandover = TimeSpan.FromSeconds(1),
        WantAfter = TimeSpan.FromMilliseconds(300),
    };

    private readonly MemoryEngine _engine = new();
    private readonly Dictionary<string, MemoryEngine> _engines = [];
    private readonly TestCluster _cluster = new(Options);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync() => await _cluster.CreateAsync(_engine);

    public async ValueTask DisposeAsync()
    {
        foreach (MemoryEngine engine in _engines.Values)
            engine.Heal();
        await _cluster.DisposeAsync();
    }

    [Fact]
    public async Task Nodes_that_start_together_share_the_partitions_and_claim_each_once()
    {
        await StartAsync("a", "b", "c");
        await _cluster.PlacedAsync("a", "b", "c");
        Assert.All(Claims(), claims => Assert.InRange(claims, 1, 2)); // 2 where a node came late.
        uint led = _cluster["a"].Serves.First();
        Assert.Empty(_cluster["a"].Topic.Failure);
        Assert.Equal(led, _cluster["a"].Topic.GetPartition(led).Index);
        NotLeaderException elsewhere = Assert.Throws<NotLeaderException>(() => _cluster["b"].Topic.GetPartition(led));
        Assert.Equal(("a:5700", (uint)Claims()[led]), (elsewhere.Address, elsewhere.Epoch));
        Assert.Contains("node a leads it", elsewhere.Message, StringComparison.Ordinal);
        Member seen = _cluster["c"].Members.Find("a")!;
        Assert.Equal(("a:5701", "1.2.3", true), (seen.ControlAddress, seen.Version, seen.IsLive));
        Assert.Equal(_cluster["a"].Serves.Count(), seen.Leads);
    }

    [Fact]
    public async Task When_a_node_is_cut_off_the_others_claim_its_partitions_and_no_others()
    {
        await StartAsync("a", "b", "c");
        await _cluster.PlacedAsync("a", "b", "c");
        uint[] lost = [.. _cluster["b"].Serves];
        await _cluster.AppendAsync(lost);
        int[] before = Claims();
        _engines["b"].Cut();
        await _cluster.PlacedAsync("a", "c");
        ChangedHands(lost, before);
        before = Claims();
        await _cluster.ReportedAsync("a", "silent b");

        // It finds out, and gets its share from live leaders, which hand it over: no more than that.
        _engines["b"].Heal();
        await _cluster.PlacedAsync("a", "b", "c");
        uint[] share = [.. _cluster["b"].Serves];
        Assert.InRange(share.Length, 2, 3);
        ChangedHands(share, before);
        foreach (uint i in lost)
            Assert.Equal(1, _cluster.Led(i).Log.EndOffset);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_node_that_nobody_hears_claims_nothing_and_robs_nobody()
    {
        FaultRun.RequireTier("It waits for what must not happen.");
        await StartAsync("a", "b");
        await _cluster.PlacedAsync("a", "b");
        uint[] lost = [.. _cluster["b"].Serves];
        int[] before = Claims();
        _engines["b"].IsMute = true; // It reaches the streams, and no node.
        await _cluster.PlacedAsync("a");
        await Task.Delay(2 * Options.Silence, Cancelled);
        ChangedHands(lost, before);
        Assert.False(_cluster["b"].Members.MayClaim);
    }

    [Fact]
    public async Task A_node_that_joins_is_handed_its_share_and_nothing_else_moves()
    {
        await StartAsync("a", "b");
        await _cluster.PlacedAsync("a", "b");
        string[] before = _cluster.Leaders();
        int[] claims = Claims();
        await _cluster.AppendAsync(TestCluster.All);
        await StartAsync("c");
        await _cluster.PlacedAsync("a", "b", "c");
        string[] after = _cluster.Leaders();
        Assert.Contains("c", after);
        Assert.Equal(before.Zip(after, (one, other) => one == other ? 0 : 1), Claims().Zip(claims, (n, o) => n - o));
        Assert.All(TestCluster.All, i => Assert.Equal(1, _cluster.Led(i).Log.EndOffset));
        foreach (uint i in TestCluster.All.Where(i => after[i] == "c"))
        {
            Assert.Equal(EntryKind.Positions, LastBeforeClaim(i).Kind); // The one that handed over wrote it.
            await _cluster.ReportedAsync(before[i], $"handed {i} to c");
        }
    }

    [Fact]
    public async Task A_node_that_drains_gives_all_away_and_one_that_stops_too()
    {
        await StartAsync("a", "b", "c");
        await _cluster.PlacedAsync("a", "b", "c");
        int[] before = Claims();
        await _cluster["a"].Replicas.DrainAsync("b", Cancelled); // Any node can be asked.
        await _cluster.PlacedAsync("a", "c");
        await Eventually.TrueAsync(
            () => _cluster["a"].Members.Find("b")!.State == MemberState.Draining,
            ForwardingCluster.Patience,
            () => "a does not know that b drains"
        );
        Assert.All(Claims().Zip(before, (n, o) => n - o), changes => Assert.InRange(changes, 0, 1));

        await _cluster.StopAsync("c");
        await _cluster.PlacedAsync("a");
        Assert.All(Claims().Zip(before, (n, o) => n - o), changes => Assert.InRange(changes, 0, 2));
        await _cluster.ReportedAsync("a", "left c");
        Assert.DoesNotContain("silent c", _cluster["a"].Events.Lines);
    }

    [Fact]
    public async Task A_node_that_leaves_hands_over_while_it_still_serves()
    {
        await StartAsync("a", "b");
        await _cluster.PlacedAsync("a", "b");
        await _cluster["b"].Replicas.LeaveAsync(TimeSpan.FromMinutes(1));
        Assert.Empty(_cluster["b"].Members.LedBy("b"));
        await _cluster.PlacedAsync("a");
        // The last one has nobody to hand over to, and does not wait for one.
        await _cluster["a"].Replicas.LeaveAsync(TimeSpan.FromMinutes(1));
        Assert.Equal((int)TestCluster.Partitions, _cluster["a"].Serves.Count());
    }

    [Fact]
    public async Task A_node_that_reads_ahead_begins_its_journal_where_retention_has_left_the_stream()
    {
        await StartAsync("a", "b", "c");
        await _cluster.PlacedAsync("a", "b", "c");
        string[] leaders = _cluster.Leaders();
        uint moved = _cluster["a"].Serves.First();
        await _cluster.AppendAsync(moved);
        await _cluster["a"].Replicas.MoveAsync(_cluster["a"].Topic, moved, "b", Cancelled);
        await _cluster.PlacedAsync(i => i == moved ? "b" : leaders[i], "a", "b", "c");
        await _cluster.AppendAsync(moved);
        // As the leader does when its journal has let the first message go.
        ulong snapshot = _engine[_cluster.StreamOf(moved)].Entries.Last(e => e.Kind == EntryKind.Snapshot).Sequence;
        await _engine.GetStream(_cluster.StreamOf(moved)).PurgeAsync(EntryKind.Data, snapshot, Cancelled);
        await _cluster["a"].Replicas.MoveAsync(_cluster["a"].Topic, moved, "c", Cancelled);
        await _cluster.PlacedAsync(i => i == moved ? "c" : leaders[i], "a", "b", "c");
        Partition led = _cluster.Led(moved);
        Assert.Equal((1, 2), (led.Log.StartOffset, led.Log.EndOffset));
        Assert.DoesNotContain(
            _cluster["b"].Events.Lines,
            line =>
                line.StartsWith("unprepared", StringComparison.Ordinal)
                || line.StartsWith("passed", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task A_node_that_cannot_read_a_partition_is_passed_over_by_one_that_drains()
    {
        await StartAsync("a", "b", "c");
        await _cluster.PlacedAsync("a", "b", "c");
        await _cluster.AppendAsync(TestCluster.All);
        uint[] moved = [.. _cluster["a"].Serves];
        Assert.NotEmpty(moved);
        foreach (uint i in moved)
            _engines["b"].CutStream(_cluster.StreamOf(i)); // The others hear it still.
        await _cluster["a"].Replicas.DrainAsync("a", Cancelled);
        foreach (uint i in moved)
            await _cluster.ReportedAsync("a", $"handed {i} to c");
        Assert.Contains(
            _cluster["a"].Events.Lines,
            line => line.EndsWith(": it cannot read the partition's stream", StringComparison.Ordinal)
        );
        Assert.DoesNotContain(
            _cluster["a"].Events.Lines,
            line => line.StartsWith("unprepared", StringComparison.Ordinal)
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_partition_that_is_moved_stays_until_its_node_drains()
    {
        FaultRun.RequireTier("Four nodes start one after the other.");
        await StartAsync("a", "b", "c");
        await _cluster.PlacedAsync("a", "b", "c");
        uint moved = _cluster["a"].Serves.First();
        int claims = Claims()[moved];
        uint epoch = await _cluster["c"].Replicas.MoveAsync(_cluster["c"].Topic, moved, "b", Cancelled);
        Assert.Equal((uint)claims + 1, epoch);
        // Whoever comes does not change it, and every node knows.
        await StartAsync("d");
        await _cluster.PlacedAsync("a", "b", "c", "d");
        await Task.Delay(Options.Silence, Cancelled);
        Assert.Equal("b", _cluster.Leaders()[moved]);
        Assert.True(_cluster.Of("d", moved).IsPinned);
        await _cluster["d"].Replicas.DrainAsync("b", Cancelled);
        await _cluster.PlacedAsync("a", "c", "d");
    }

    [Fact]
    public async Task What_operators_have_moved_is_spread_again_when_they_ask_for_that()
    {
        await StartAsync("a", "b");
        await _cluster.PlacedAsync("a", "b");
        uint moved = _cluster["a"].Serves.First();
        await _cluster["b"].Replicas.MoveAsync(_cluster["b"].Topic, moved, "b", Cancelled);
        await _cluster.PlacedAsync("a", "b"); // It does not count: nothing makes up for it.
        Assert.Equal(3, _cluster["a"].Serves.Count());
        (_, string from, string to) = Assert.Single(_cluster["a"].Replicas.PlanBalance());
        Assert.Equal(("b", "a"), (from, to));
        Assert.Equal(0, await _cluster["a"].Replicas.BalanceAsync(Cancelled));
        await _cluster.PlacedAsync("a", "b");
        Assert.Equal(4, _cluster["a"].Serves.Count());
    }

    [Fact]
    public async Task Moves_that_cannot_be_are_refused()
    {
        await StartAsync("a", "b");
        await _cluster.PlacedAsync("a", "b");
        int[] before = Claims();
        Replicas replicas = _cluster["a"].Replicas;
        Topic topic = _cluster["a"].Topic;
        BrokerException error = await Assert.ThrowsAsync<BrokerException>(() =>
            replicas.MoveAsync(topic, 0, "x", Cancelled)
        );
        Assert.Equal(ErrorCode.InvalidArgument, error.Code);
        Assert.Equal("node is 'x'; allowed, of those that are alive and do not drain: a, b.", error.Message);
        error = await Assert.ThrowsAsync<BrokerException>(() => replicas.DrainAsync("y", Cancelled));
        Assert.Equal("node is 'y'; allowed, of those that are alive: a, b.", error.Message);
        error = await Assert.ThrowsAsync<BrokerException>(() =>
            replicas.MoveAsync(topic, TestCluster.Partitions, "b", Cancelled)
        );
        Assert.Equal(ErrorCode.UnknownPartition, error.Code);
        Assert.Equal(before, Claims());
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_second_broker_of_a_name_claims_nothing()
    {
        FaultRun.RequireTier("It waits for what must not happen.");
        await StartAsync("a");
        await _cluster.PlacedAsync("a");
        await using TestNode second = await _cluster.StartOneAsync("a", _engine.Connect());
        await _cluster.ReportedAsync("a", "name kept");
        await Task.Delay(2 * Options.Silence, Cancelled);
        Assert.Contains("name taken", second.Events.Lines);
        Assert.Empty(second.Serves);
        Assert.All(Claims(), claims => Assert.Equal(1, claims));
    }

    private async Task StartAsync(params string[] names)
    {
        foreach (string name in names)
        {
            _engines[name] = _engine.Connect();
            await _cluster.StartAsync(name, _engines[name]);
        }
    }

    /// <summary>
    /// What a node had lost has changed hands once, or once more than that; nothing else has, since it had a live
    /// leader.
    /// </summary>
    private void ChangedHands(uint[] lost, int[] before)
    {
        foreach ((int i, int claims) in Claims().Index())
            Assert.InRange(claims - before[i], lost.Contains((uint)i) ? 1 : 0, lost.Contains((uint)i) ? 2 : 0);
    }

    /// <summary>How often each partition was claimed: the epoch of its last owner.</summary>
    private int[] Claims() =>
        [.. TestCluster.All.Select(i => _engine[_cluster.StreamOf(i)].Entries.Count(e => e.Kind == EntryKind.Claim))];

    private StreamEntry LastBeforeClaim(uint partition)
    {
        StreamEntry[] entries = _engine[_cluster.StreamOf(partition)].Entries;
        return entries[Array.FindLastIndex(entries, e => e.Kind == EntryKind.Claim) - 1];
    }
}
