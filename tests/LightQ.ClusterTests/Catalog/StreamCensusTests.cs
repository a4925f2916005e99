using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.ClusterTests.Members;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Catalog;

/// <summary>Streams of partitions that no topic has: they are named, and nothing removes them by itself.</summary>
public sealed class StreamCensusTests : IAsyncDisposable
{
    private readonly MemoryEngine _engine = new();
    private readonly ManualTime _time = new();
    private readonly RecordedEvents _events = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public ValueTask DisposeAsync() => _engine.DisposeAsync();

    [Fact]
    public async Task Streams_whose_topic_the_catalog_does_not_know_are_named_and_left()
    {
        using CatalogNode node = await CatalogNode.OpenAsync(_engine, follows: false),
            other = await CatalogNode.OpenAsync(_engine, follows: false);
        ReplicationOptions options = OptionsOf(node);
        await using var census = new StreamCensus(node.Catalog, options, _time);
        node.CreateTopic("orders", replicas: 3);
        var nobodys = Guid.NewGuid();
        string[] unknown = [options.StreamOf(nobodys, 0), options.StreamOf(nobodys, 12)];
        string[] all =
        [
            options.CatalogStream,
            options.StreamOf(node.IdOf("orders"), 0),
            "LQ_shop_mine",
            $"LQ_shopping_{nobodys:N}_0",
            .. unknown,
        ];
        foreach (string name in all)
            await _engine.CreateStreamAsync(name, 3, Cancelled);

        await census.LookAsync(Cancelled);
        Assert.Empty(Conditions(options)); // It may be about to become a topic.
        // A record of another node that this one has not read yet comes in time.
        other.Catalog.CatchUp();
        other.CreateTopic("bills", replicas: 3);
        string late = options.StreamOf(other.IdOf("bills"), 0);
        await _engine.CreateStreamAsync(late, 3, Cancelled);
        await census.LookAsync(Cancelled);
        _time.Advance(TimeSpan.FromHours(1));
        await census.LookAsync(Cancelled);
        string found = Assert.Single(Conditions(options));
        Assert.All(unknown, name => Assert.Contains(name, found, StringComparison.Ordinal));
        Assert.Contains("2 of 1 topics", found, StringComparison.Ordinal);
        Assert.Equal(all.Append(late).Order(StringComparer.Ordinal), _engine.Names.Order(StringComparer.Ordinal));
        Assert.Equal(["condition unknown-streams shop"], _events.Lines);
    }

    [Fact]
    public async Task A_stream_is_removed_when_an_operator_wishes_it_and_no_topic_has_it()
    {
        using CatalogNode node = await CatalogNode.OpenAsync(_engine, follows: false),
            other = await CatalogNode.OpenAsync(_engine, follows: false);
        ReplicationOptions options = OptionsOf(node);
        await using var census = new StreamCensus(node.Catalog, options, _time);
        // Known to another node alone: the catalog is read on first.
        other.CreateTopic("orders", replicas: 3);
        string known = options.StreamOf(other.IdOf("orders"), 0),
            unknown = options.StreamOf(Guid.NewGuid(), 0);
        foreach (string name in new[] { known, unknown })
            await _engine.CreateStreamAsync(name, 3, Cancelled);
        await census.LookAsync(Cancelled);
        _time.Advance(StreamCensus.Patience);
        await census.LookAsync(Cancelled);

        foreach (string refused in new[] { known, options.CatalogStream, "LQ_other_1", $"LQ_x_{Guid.NewGuid():N}_0" })
        {
            BrokerException refusal = await Assert.ThrowsAsync<BrokerException>(() =>
                census.RemoveAsync([unknown, refused], "admin", Cancelled)
            );
            Assert.Equal(ErrorCode.InvalidArgument, refusal.Code);
        }
        Assert.Contains(unknown, _engine.Names);
        await census.RemoveAsync([unknown], "admin", Cancelled);
        Assert.DoesNotContain(unknown, _engine.Names);
        Assert.Contains(known, _engine.Names);
        Assert.Equal(
            [
                "condition unknown-streams shop",
                $"removed the stream {unknown} of the engine: admin wished it, and no topic has it",
                "over unknown-streams shop",
            ],
            _events.Lines
        );
    }

    [Fact]
    public async Task Streams_of_a_topic_without_replicas_are_not_named_while_they_are_being_filled()
    {
        using CatalogNode node = await CatalogNode.OpenAsync(_engine, follows: false);
        ReplicationOptions options = OptionsOf(node);
        await using var census = new StreamCensus(node.Catalog, options, _time);
        node.CreateTopic("orders");
        string[] streams = [options.StreamOf(node.IdOf("orders"), 0), options.StreamOf(node.IdOf("orders"), 1)];
        foreach (string name in streams)
            await _engine.CreateStreamAsync(name, 3, Cancelled);
        for (ulong last = 0; last < 3; last++)
        {
            await _engine.GetStream(streams[1]).AppendAsync(EntryKind.Data, new byte[] { 1 }, last, Cancelled);
            _time.Advance(StreamCensus.Patience);
            await census.LookAsync(Cancelled);
            Assert.Empty(Conditions(options));
        }
        _time.Advance(StreamCensus.Patience);
        await census.LookAsync(Cancelled);
        Assert.Single(Conditions(options));
        Assert.Superset(streams.ToHashSet(), _engine.Names.ToHashSet());
    }

    private static string[] Conditions(ReplicationOptions options) =>
        [.. options.Conditions.All("a", static _ => true).Select(c => c.Condition.Detail)];

    private ReplicationOptions OptionsOf(CatalogNode node) =>
        new()
        {
            Engine = node.Engine,
            Cluster = "shop",
            Node = "a",
            Events = _events,
        };
}
