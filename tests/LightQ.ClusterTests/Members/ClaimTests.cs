using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.ClusterTests.Handovers;
using LightQ.ClusterTests.Log;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Nodes that may claim the same partitions, when the one that led them is gone.</summary>
public sealed class ClaimTests : IAsyncDisposable
{
    private readonly MemoryEngine _engine = new();
    private readonly Dictionary<string, MemoryEngine> _engines = [];
    private TestCluster _cluster = null!;
    private CountingEngine _stores = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask DisposeAsync()
    {
        foreach (MemoryEngine engine in _engines.Values)
            engine.Heal();
        await _cluster.DisposeAsync();
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task One_node_claims_each_partition_however_long_nothing_has_changed_before()
    {
        FaultRun.RequireTier("It waits until nodes have not looked for a while.");
        var options = new MemberOptions { Silence = TimeSpan.FromSeconds(2), NextChoice = TimeSpan.FromSeconds(5) };
        await StartAsync(options);
        await Task.Delay(options.NextChoice + TimeSpan.FromSeconds(1), Cancelled);
        uint[] lost = [.. _cluster["b"].Serves];
        int[] before = Claims();
        _engines["b"].Cut();
        await _cluster.PlacedAsync("a", "c");
        Assert.All(lost, i => Assert.Equal(before[i] + 1, Claims()[i]));
    }

    [Fact]
    public async Task Settings_that_change_during_a_claim_count_for_what_is_claimed()
    {
        await StartAsync(new MemberOptions { Silence = TimeSpan.FromSeconds(2) });
        Topic topic = _cluster["b"].Topic;
        TopicSettings settings = (
            topic.Settings with
            {
                RetentionBytes = 1 << 30,
                DedupWindow = TimeSpan.FromMinutes(1),
            }
        ).Complete();
        _stores.OnStored = kind => _ = kind == EntryKind.Claim ? topic.Apply(settings) : Task.CompletedTask;
        uint moved = _cluster["a"].Serves.First();
        await _cluster["a"].Replicas.MoveAsync(_cluster["a"].Topic, moved, "b", Cancelled);
        Partition led = _cluster.Led(moved);
        Assert.Same(topic, led.Topic);
        await topic.IdsRead;
        Assert.Equal(
            (settings.RetentionBytes, settings.DedupWindow),
            (led.Log.Local!.Journal.Options.RetentionBytes, led.Dedup?.Window)
        );
    }

    private async Task StartAsync(MemberOptions options)
    {
        _cluster = new TestCluster(options);
        await _cluster.CreateAsync(_engine);
        foreach (string name in (string[])["a", "b", "c"])
        {
            _engines[name] = _engine.Connect();
            await _cluster.StartAsync(
                name,
                name == "b" ? _stores = new CountingEngine(_engines[name]) : _engines[name]
            );
        }
        await _cluster.PlacedAsync("a", "b", "c");
    }

    private int[] Claims() =>
        [.. TestCluster.All.Select(i => _engine[_cluster.StreamOf(i)].Entries.Count(e => e.Kind == EntryKind.Claim))];
}
