using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.ClusterTests.Log;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Catalog;

/// <summary>Streams that a creation has left behind.</summary>
public sealed class StreamSweeperTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Streams_whose_topic_the_catalog_does_not_know_for_ten_minutes_are_removed()
    {
        var engine = new MemoryEngine();
        using CatalogNode node = await CatalogNode.OpenAsync(engine, follows: false),
            other = await CatalogNode.OpenAsync(engine, follows: false);
        var time = new ManualTime();
        var options = new ReplicationOptions
        {
            Engine = node.Engine,
            Cluster = "shop",
            Node = "a",
        };
        await using var sweeper = new StreamSweeper(node.Catalog, options, static () => null, time);
        node.CreateTopic("orders", replicas: 3);
        var nobodys = Guid.NewGuid();
        string[] kept =
        [
            options.CatalogStream,
            options.StreamOf(node.IdOf("orders"), 0),
            "LQ_shop_mine",
            $"LQ_shopping_{nobodys:N}_0",
        ];
        foreach (string name in kept.Append(options.StreamOf(nobodys, 0)).Append(options.StreamOf(nobodys, 12)))
            await engine.CreateStreamAsync(name, 3, Cancelled);

        await sweeper.SweepAsync(Cancelled);
        time.Advance(StreamSweeper.Patience - TimeSpan.FromSeconds(1));
        await sweeper.SweepAsync(Cancelled);
        Assert.Equal(6, engine.Names.Count);
        // A record of another node that this one has not read yet comes in time.
        other.Catalog.CatchUp();
        other.CreateTopic("bills", replicas: 3);
        string late = options.StreamOf(other.IdOf("bills"), 0);
        await engine.CreateStreamAsync(late, 3, Cancelled);
        await sweeper.SweepAsync(Cancelled);
        time.Advance(TimeSpan.FromSeconds(1));
        await sweeper.SweepAsync(Cancelled);
        Assert.Equal(kept.Append(late).Order(StringComparer.Ordinal), engine.Names.Order(StringComparer.Ordinal));
        time.Advance(StreamSweeper.Patience);
        await sweeper.SweepAsync(Cancelled);
        Assert.Equal(kept.Append(late).Order(StringComparer.Ordinal), engine.Names.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Streams_of_a_topic_without_replicas_are_left_while_they_are_being_filled()
    {
        var engine = new MemoryEngine();
        using CatalogNode node = await CatalogNode.OpenAsync(engine, follows: false);
        var time = new ManualTime();
        var options = new ReplicationOptions
        {
            Engine = node.Engine,
            Cluster = "shop",
            Node = "a",
        };
        await using var sweeper = new StreamSweeper(node.Catalog, options, static () => null, time);
        node.CreateTopic("orders");
        string[] streams = [options.StreamOf(node.IdOf("orders"), 0), options.StreamOf(node.IdOf("orders"), 1)];
        foreach (string name in streams)
            await engine.CreateStreamAsync(name, 3, Cancelled);
        for (ulong last = 0; last < 3; last++)
        {
            await engine.GetStream(streams[1]).AppendAsync(EntryKind.Data, new byte[] { 1 }, last, Cancelled);
            time.Advance(StreamSweeper.Patience);
            await sweeper.SweepAsync(Cancelled);
            Assert.Superset(streams.ToHashSet(), engine.Names.ToHashSet());
        }
        time.Advance(StreamSweeper.Patience);
        await sweeper.SweepAsync(Cancelled);
        Assert.Equal([options.CatalogStream], engine.Names);
    }
}
