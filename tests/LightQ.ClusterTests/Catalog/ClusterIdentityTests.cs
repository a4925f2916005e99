using LightQ.Broker;
using LightQ.Broker.Catalog;
using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Storage;
using Xunit;

namespace LightQ.ClusterTests.Catalog;

/// <summary>That a catalog is absent, empty or short is never taken for a cluster that is new.</summary>
public sealed class ClusterIdentityTests : IDisposable
{
    private const string Catalog = "LQ_shop_catalog";

    private static readonly TimeSpan LostAfter = TimeSpan.FromMilliseconds(100);

    private readonly MemoryEngine _engine = new();
    private readonly List<TemporaryDirectory> _directories = [];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public void Dispose() => _directories.ForEach(directory => directory.Dispose());

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_empty_broker_begins_no_cluster_where_there_are_streams_of_one(bool isThereEmpty)
    {
        string left = $"LQ_shop_{Guid.NewGuid():N}_0";
        await _engine.CreateStreamAsync(left, 3, Cancelled);
        if (isThereEmpty)
            await _engine.CreateStreamAsync(Catalog, 3, Cancelled);
        BrokerException refused = await Assert.ThrowsAsync<BrokerException>(() => OpenAsync(NewDirectory(), "a"));
        Assert.Contains(left, refused.Message, StringComparison.Ordinal);
        Assert.Contains("lightq cluster init", refused.Message, StringComparison.Ordinal);
        Assert.Equal(isThereEmpty, _engine.Names.Contains(Catalog));

        var init = new ClusterInit(_engine, "shop");
        (Guid? known, IReadOnlyList<string> streams) = await init.ExamineAsync(Cancelled);
        Assert.Null(known);
        Assert.Equal([left], streams);
        Guid begun = await init.RunAsync(TimeProvider.System, Cancelled);
        await Assert.ThrowsAsync<ReplicationException>(() => init.RunAsync(TimeProvider.System, Cancelled));
        await using LightQBroker broker = await OpenAsync(NewDirectory(), "a");
        Assert.Equal(begun, broker.Catalog.ClusterId);
        Assert.Contains(left, _engine.Names);
    }

    [Fact]
    public async Task Streams_of_other_clusters_keep_nobody_from_beginning()
    {
        foreach (string name in new[] { $"LQ_shopping_{Guid.NewGuid():N}_0", "LQ_shop_members", "ORDERS" })
            await _engine.CreateStreamAsync(name, 3, Cancelled);
        await using LightQBroker broker = await OpenAsync(NewDirectory(), "a");
        Assert.NotNull(broker.Catalog.ClusterId);
    }

    [Theory]
    [InlineData("deleted")]
    [InlineData("purged")]
    [InlineData("made anew")]
    [InlineData("of another")]
    public async Task A_member_does_not_start_on_a_catalog_that_is_lost_or_another_one(string mishap)
    {
        string directory = NewDirectory();
        Guid id;
        await using (LightQBroker member = await OpenAsync(directory, "a"))
            id = member.Catalog.ClusterId!.Value;
        Guid? other = await HarmAsync(mishap);
        int before = _engine.Names.Count;

        DataDirectoryException refused = await Assert.ThrowsAsync<DataDirectoryException>(() =>
            OpenAsync(directory, "a")
        );
        Assert.Contains(id.ToString(), refused.Message, StringComparison.Ordinal);
        Assert.Contains(
            other is { } found ? $"{found}" : "lightq cluster repair --catalog",
            refused.Message,
            StringComparison.Ordinal
        );
        Assert.Equal(before, _engine.Names.Count); // It has made nothing.
    }

    [Theory]
    [InlineData("deleted")]
    [InlineData("purged")]
    [InlineData("made anew")]
    [InlineData("of another")]
    [InlineData("restored")]
    public async Task A_running_broker_takes_nothing_of_a_catalog_that_is_lost_and_writes_it_anew(string mishap)
    {
        await using LightQBroker a = await OpenAsync(NewDirectory(), "a");
        await using LightQBroker b = await OpenAsync(NewDirectory(), "b");
        a.Users.Create("alice", "hash");
        a.CreateTopic("bills", BrokerPair.Durable);
        a.CreateTopic("orders", BrokerPair.Durable);
        await OnBothAsync(n => n.TryGetTopic("orders", out _), "the topics");
        Guid? other = await HarmAsync(mishap);

        await OnBothAsync(n => NotReadyOf(n) is not null, "that the catalog is lost");
        BrokerException refused = await Assert.ThrowsAnyAsync<BrokerException>(() =>
            Task.Run(() => a.CreateTopic("late", BrokerPair.Durable), Cancelled)
        );
        Assert.Equal(ErrorCode.Unavailable, refused.Code);
        Assert.All(new[] { a, b }, n => Assert.Equal(2, n.Topics.Count()));
        Assert.All(new[] { a, b }, n => Assert.True(n.Users.Table.Users.ContainsKey("alice")));
        Assert.All(new[] { a, b }, n => Assert.NotEqual(other, n.Catalog.ClusterId));

        await a.Catalog.RewriteAsync(Cancelled);
        await OnBothAsync(n => NotReadyOf(n) is null, "that the catalog is written");
        b.CreateTopic("late", BrokerPair.Durable);
        await OnBothAsync(n => n.TryGetTopic("late", out _) && n.Topics.Count() == 3, "the new topic");
        await using LightQBroker c = await OpenAsync(NewDirectory(), "c");
        Assert.Equal(3, c.Topics.Count());
        Assert.Equal(a.Catalog.ClusterId, c.Catalog.ClusterId);

        Task OnBothAsync(Func<LightQBroker, bool> condition, string what) =>
            Eventually.TrueAsync(() => condition(a) && condition(b), BrokerPair.Patience, () => what);
    }

    [Fact]
    public async Task A_catalog_that_is_written_anew_by_a_node_that_knew_less_is_not_taken()
    {
        await using LightQBroker a = await OpenAsync(NewDirectory(), "a");
        a.CreateTopic("bills", BrokerPair.Durable);
        CatalogRecord.ClusterEntry cluster;
        lock (a.Catalog.Tables.Lock)
            cluster = a.Catalog.Tables.Cluster!;
        await _engine.DeleteStreamAsync(Catalog, Cancelled);
        IReplicatedStream stream = await _engine.CreateStreamAsync(Catalog, 3, Cancelled);
        var record = new CatalogRecord { Cluster = cluster with { Rewritten = 1, RewrittenFrom = 1 } };
        var part = new CatalogEntry.CopyPart(Guid.NewGuid(), 0, 0, 1);
        await stream.AppendAsync(
            EntryKind.Snapshot,
            new CatalogEntry(Guid.NewGuid(), [record], part).Write(),
            0,
            Cancelled
        );
        await Eventually.TrueAsync(() => NotReadyOf(a) is not null, BrokerPair.Patience, () => "It is taken.");
        Assert.True(a.TryGetTopic("bills", out _));
        await a.Catalog.RewriteAsync(Cancelled); // It knows more, and its own counts.
        await Eventually.TrueAsync(() => NotReadyOf(a) is null, BrokerPair.Patience, () => "It is not ready.");
        // So that nodes which have taken the other one take this one.
        lock (a.Catalog.Tables.Lock)
            Assert.Equal(2, a.Catalog.Tables.Cluster!.Rewritten);
    }

    private static string? NotReadyOf(LightQBroker broker) => broker.Options.Replication!.Conditions.NotReady;

    /// <returns>The other cluster's id, if there is one.</returns>
    private async Task<Guid?> HarmAsync(string mishap)
    {
        FaultyStream stream = _engine[Catalog];
        switch (mishap)
        {
            case "purged":
                stream.PurgeAll();
                return null;
            case "restored":
                stream.Restore(2);
                return null;
            case "deleted":
                await _engine.DeleteStreamAsync(Catalog, Cancelled);
                return null;
            case "made anew":
                await _engine.DeleteStreamAsync(Catalog, Cancelled);
                await _engine.CreateStreamAsync(Catalog, 3, Cancelled);
                return null;
            default:
                // Another cluster, which has as many entries.
                int entries = stream.Entries.Length;
                await _engine.DeleteStreamAsync(Catalog, Cancelled);
                Guid other = await new ClusterInit(_engine, "shop").RunAsync(TimeProvider.System, Cancelled);
                using (CatalogNode node = await CatalogNode.OpenAsync(_engine, follows: false))
                {
                    for (int i = 1; i < entries; i++)
                        node.CreateTopic($"theirs{i}");
                }
                return other;
        }
    }

    private Task<LightQBroker> OpenAsync(string directory, string node) =>
        LightQBroker.OpenAsync(
            directory,
            new BrokerOptions
            {
                Replication = new ReplicationOptions
                {
                    Engine = new MemoryEngine(_engine),
                    Cluster = "shop",
                    Node = node,
                    LostAfter = LostAfter,
                },
            },
            TimeProvider.System
        );

    private string NewDirectory()
    {
        _directories.Add(new TemporaryDirectory());
        return _directories[^1].Path;
    }
}
