using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.ClusterTests.Backups;
using LightQ.ClusterTests.Handovers;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Losses;

/// <summary>
/// A stream of the engine that loses something under a partition: it is noticed and said, publishing stops, and the log
/// is written anew from the brokers' copies.
/// </summary>
public sealed class StreamLossTests : IAsyncLifetime
{
    private const int Messages = 60,
        Taken = 20;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);
    private static readonly MemberOptions Options = new() { Silence = TimeSpan.FromSeconds(2) };

    private readonly MemoryEngine _engine = new();
    private ServerCluster _cluster = null!;
    private LightQClient _client = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private FaultyStream Stream => _engine[NameOf("orders")];

    public async ValueTask InitializeAsync()
    {
        _cluster = await ServerCluster.StartAsync(Options, () => new(_engine.Connect()), "a", "b");
        _client = _cluster.Connect();
        await _cluster.CreateAsync("orders", partitions: 1);
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _cluster.DisposeAsync();
    }

    [Theory]
    [InlineData("purged")]
    [InlineData("deleted")]
    [InlineData("made anew")]
    [InlineData("restored")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_mishap_of_the_stream_stops_publishing_and_a_repair_brings_everything_back(string mishap)
    {
        FaultRun.RequireTier("The nodes listen and claim for seconds each.");
        await TopicContents.PublishAsync(_client, "orders", 0, Messages);
        List<int> taken = await TopicContents.WorkAsync(_client, "orders", Taken);
        SortedDictionary<(int, long), string> before = await TopicContents.ReadAsync(_client, "orders", Messages);
        int[] open = [.. Enumerable.Range(0, Messages).Except(taken.Where(i => i % 2 == 0))];
        string leader = _cluster.LeaderOf("orders", 0)!;
        await TopicContents.StoreAsync("orders", _cluster[leader]);

        await HarmAsync(mishap, NameOf("orders"));
        await NoticedAsync();
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            TopicContents.PublishAsync(_client, "orders", Messages, 1)
        );
        Assert.Equal(ErrorCode.TopicFailed, refused.Code);
        Assert.Contains("lightq cluster repair orders", refused.Message, StringComparison.Ordinal);

        PartitionRepairInfo plan = Assert.Single(
            await _client.Cluster.RepairTopicAsync("orders", planOnly: true, Cancelled)
        );
        Assert.Equal((leader, 0L, (long)Messages), (plan.Node, plan.FirstOffset, plan.EndOffset));
        Assert.False(plan.IsDone);
        PartitionRepairInfo done = Assert.Single(
            await _client.Cluster.RepairTopicAsync("orders", cancellationToken: Cancelled)
        );
        Assert.Equal((true, ""), (done.IsDone, done.Failure));
        await EndedAsync();

        await TopicContents.PublishAsync(_client, "orders", Messages, 1);
        SortedDictionary<(int, long), string> after = await TopicContents.ReadAsync(_client, "orders", Messages + 1);
        Assert.Equal(before.AsEnumerable(), after.Take(Messages));
        Assert.Equal([.. open, Messages], (await TopicContents.WorkAsync(_client, "orders", open.Length + 1)).Order());
        // Another node takes over what was written.
        await _cluster.MoveAsync("orders", 0, leader == "a" ? "b" : "a");
        Assert.Equal(after, await TopicContents.ReadAsync(_client, "orders", Messages + 1));
        Assert.Empty(await _client.Cluster.RepairTopicAsync("orders", cancellationToken: Cancelled));
    }

    [Theory]
    [InlineData("made anew")]
    [InlineData("restored")]
    public async Task A_node_without_a_copy_that_starts_first_takes_a_stream_for_no_less_than_was_noted(string mishap)
    {
        await TopicContents.PublishAsync(_client, "orders", 0, Messages);
        SortedDictionary<(int, long), string> before = await TopicContents.ReadAsync(_client, "orders", Messages);
        string name = NameOf("orders");
        foreach (string node in _cluster.Names.ToArray())
            await _cluster.StopAsync(node);
        await HarmAsync(mishap, name);

        await _cluster.AddAsync("c", _engine.Connect(), Options);
        await NoticedAsync();
        Assert.Null(_cluster.LeaderOf("orders", 0));
        foreach (string node in new[] { "a", "b" })
            await _cluster.AddAsync(node, _engine.Connect(), Options);
        await using LightQClient client = _cluster.Connect();
        await Eventually.TrueAsync(
            async () =>
                (await client.Cluster.RepairTopicAsync("orders", planOnly: true, Cancelled)).Any(p =>
                    p.EndOffset == Messages
                ),
            Patience,
            () => "Nobody has a copy."
        );
        Assert.True(
            Assert.Single(await client.Cluster.RepairTopicAsync("orders", cancellationToken: Cancelled)).IsDone
        );
        await EndedAsync();
        Assert.Equal(before, await TopicContents.ReadAsync(client, "orders", Messages));
    }

    [Fact]
    public async Task A_stream_that_is_whole_again_is_served_without_a_repair()
    {
        await TopicContents.PublishAsync(_client, "orders", 0, Messages);
        StreamEntry[] entries = Stream.Entries;
        Stream.PurgeAll();
        await NoticedAsync();
        Stream.Refill(entries);
        await EndedAsync();
        await TopicContents.PublishAsync(_client, "orders", Messages, 1);
        Assert.Equal(Messages + 1, (await TopicContents.ReadAsync(_client, "orders", Messages + 1)).Count);
    }

    [Fact]
    public async Task Whoever_asks_any_node_hears_of_it_and_the_broker_stays_ready()
    {
        await TopicContents.PublishAsync(_client, "orders", 0, 1);
        string leader = _cluster.LeaderOf("orders", 0)!;
        Stream.PurgeAll();
        await NoticedAsync();
        foreach (string name in _cluster.Names)
        {
            await using LightQClient client = TopicContents.Connect(_cluster[name]);
            IReadOnlyList<ClusterConditionInfo> found = [];
            await Eventually.TrueAsync(
                async () =>
                    (found = (await client.Cluster.GetAsync(cancellationToken: Cancelled)).Conditions).Count != 0,
                Patience,
                () => $"{name} does not know of it"
            );
            ClusterConditionInfo condition = Assert.Single(found);
            Assert.Equal(
                ("stream-damaged", "orders/0", true),
                (condition.Kind, condition.Subject, condition.IsFailure)
            );
            Assert.Contains("lightq cluster repair orders", condition.Remedy, StringComparison.Ordinal);
        }
        using var http = new HttpClient();
        int port = _cluster[leader].WebPort;
        string ready = await http.GetStringAsync(new Uri($"http://127.0.0.1:{port}/healthz/ready"), Cancelled);
        Assert.Contains("ready, degraded", ready, StringComparison.Ordinal);
        Assert.DoesNotContain("orders", ready, StringComparison.Ordinal);
    }

    private string NameOf(string topic) => $"LQ_hand_{_cluster["a"].Broker.GetTopic(topic).Id:N}_0";

    private Task NoticedAsync() =>
        Eventually.TrueAsync(
            () => _cluster.Names.Any(n => ConditionsOf(n).Count != 0),
            Patience,
            () => "Nobody has noticed it."
        );

    private Task EndedAsync() =>
        Eventually.TrueAsync(
            () => _cluster.Names.All(n => ConditionsOf(n).Count == 0),
            Patience,
            () => string.Join("; ", _cluster.Names.SelectMany(ConditionsOf).Select(c => $"{c}"))
        );

    private IReadOnlyList<ClusterCondition> ConditionsOf(string name) =>
        _cluster[name].Broker.Options.Replication!.Conditions.Told;

    private async Task HarmAsync(string mishap, string name)
    {
        FaultyStream stream = _engine[name];
        switch (mishap)
        {
            case "purged":
                stream.PurgeAll();
                break;
            case "restored":
                stream.Restore((ulong)stream.Entries.Length / 2);
                break;
            case "deleted":
                await _engine.DeleteStreamAsync(name, Cancelled);
                break;
            default:
                await _engine.DeleteStreamAsync(name, Cancelled);
                await _engine.CreateStreamAsync(name, 3, Cancelled);
                break;
        }
    }
}
