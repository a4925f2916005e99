using System.Globalization;
using LightQ.Broker;
using LightQ.Broker.Catalog;
using LightQ.Broker.Groups;
using LightQ.Broker.Producers;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Catalog;

/// <summary>One catalog on several nodes: races, refusals, and answers that do not come.</summary>
public sealed class SharedCatalogTests : IDisposable
{
    private const string Stream = "LQ_shop_catalog";
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);
    private readonly List<CatalogNode> _nodes = [];

    public void Dispose()
    {
        foreach (CatalogNode node in _nodes)
            node.Dispose();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(0.3)]
    public async Task Of_nodes_that_create_a_topic_at_once_one_does_and_the_others_hear_of_it(double faults)
    {
        MemoryEngine engine = await StartAsync(nodes: 3, faults);
        int created = 0,
            refused = 0;
        await AtOnceAsync(node =>
        {
            for (int i = 0; i < 20; i++)
            {
                try
                {
                    node.CreateTopic($"orders.{Text(i)}");
                    Interlocked.Increment(ref created);
                }
                catch (BrokerException e) when (e.Code == ErrorCode.TopicExists)
                {
                    Interlocked.Increment(ref refused);
                }
                Assert.NotEqual(Guid.Empty, node.IdOf($"orders.{Text(i)}"));
            }
        });
        Assert.Equal((20, 40), (created, refused));
        await AgreeAsync();
        // Whatever was sent twice is stored once: the cluster itself, and each topic.
        Assert.Equal(21, engine[Stream].Entries.Length);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(0.3)]
    public async Task Changes_of_one_user_on_several_nodes_are_all_kept(double faults)
    {
        await StartAsync(nodes: 3, faults);
        _nodes[0].Users.Create("alice", "hash");
        foreach (CatalogNode node in _nodes)
            node.Catalog.CatchUp();
        await AtOnceAsync(node =>
        {
            for (int i = 0; i < 15; i++)
            {
                string pattern = $"{Text(_nodes.IndexOf(node))}.{Text(i)}";
                Assert.True(node.Users.Grant("alice", Grant.Create(Right.Publish, pattern)));
            }
            node.Users.SetPassword("alice", "another");
        });
        await AgreeAsync();
        User alice = _nodes[0].Users.Get("alice");
        Assert.Equal((45, 3u), (alice.Grants.Count, alice.PasswordGeneration));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(0.3)]
    public async Task No_epoch_of_a_name_is_given_twice(double faults)
    {
        await StartAsync(nodes: 3, faults);
        _nodes[0].CreateTopic("orders");
        foreach (CatalogNode node in _nodes)
            node.Catalog.CatchUp();
        Guid topic = _nodes[0].IdOf("orders");
        List<(ulong Id, uint Epoch)> given = [];
        await AtOnceAsync(node =>
        {
            uint last = 0;
            for (int i = 0; i < 150; i++)
            {
                // Mostly the instance that has the name, for which epochs were noted ahead.
                ulong instance = (ulong)((100 * _nodes.IndexOf(node)) + (i / 10));
                (ulong id, uint epoch) = node.Catalog.NextEpoch(topic, "importer", instance, isReturning: false);
                Assert.True(epoch > last);
                last = epoch;
                lock (given)
                    given.Add((id, epoch));
            }
        });
        Assert.Equal(450, given.Distinct().Count());
        Assert.Single(given.Select(g => g.Id).Distinct());
        await AgreeAsync();
        Assert.True(_nodes[0].Tables.FindProducer(topic, 0, "importer")!.Epoch >= given.Max(g => g.Epoch));
    }

    [Fact]
    public async Task A_name_that_another_node_gave_away_fences_the_one_before()
    {
        await StartAsync(nodes: 2);
        _nodes[0].CreateTopic("orders");
        _nodes[1].Catalog.CatchUp();
        Guid topic = _nodes[0].IdOf("orders");
        (_, uint first) = _nodes[0].Catalog.NextEpoch(topic, "importer", 1, isReturning: false);
        (_, uint second) = _nodes[1].Catalog.NextEpoch(topic, "importer", 2, isReturning: false);
        Assert.True(second > first);
        _nodes[0].Catalog.CatchUp();
        BrokerException fenced = Assert.Throws<BrokerException>(() =>
            _nodes[0].Catalog.NextEpoch(topic, "importer", 1, isReturning: true)
        );
        Assert.Equal(ErrorCode.Fenced, fenced.Code);
    }

    [Fact]
    public async Task A_producer_that_another_node_has_just_noted_is_known_when_a_log_names_it()
    {
        await StartAsync(nodes: 2, follows: false);
        _nodes[0].CreateTopic("orders");
        _nodes[1].Catalog.CatchUp();
        Guid topic = _nodes[0].IdOf("orders");
        (ulong id, uint epoch) = _nodes[0].Catalog.NextEpoch(topic, "importer", 1, isReturning: false);
        var named = new Topic("orders", topic, default, new TopicSettings(), null);
        var partition = new Partition(named, 0, TimeProvider.System) { Positions = new StreamPositions() };
        var state = new PartitionState(partition, _nodes[1].Catalog);
        var read = new ProducerTable();
        read.Open(id, epoch).Remember(new ProducerState.Remembered(3, 7, 2, 9), 1);
        read.Open(id + 1, epoch).Remember(new ProducerState.Remembered(1, 8, 1, 9), 1);
        Assert.False(_nodes[1].Catalog.HasProducer(topic, id, epoch));
        state.Load(PartitionState.Encode(new StreamPositions(), read.Save()));
        Assert.True(partition.NamedProducers.IsEmpty);
        // The answer of the engine takes its time, and nobody stands and waits for it.
        _nodes[1].Engine.DelayReads(Stream, TimeSpan.FromMilliseconds(100));
        ValueTask learning = state.LearnAsync(TestContext.Current.CancellationToken);
        Assert.False(learning.IsCompleted);
        await learning;
        Assert.Equal([id], partition.NamedProducers.Ids);
        Assert.Equal(5ul, partition.NamedProducers.Find(id)!.NextSequence);
    }

    [Fact]
    public async Task Names_that_a_node_forgets_are_forgotten_on_all()
    {
        await StartAsync(nodes: 2);
        _nodes[0].CreateTopic("orders");
        Guid topic = _nodes[0].IdOf("orders");
        (ulong kept, _) = _nodes[0].Catalog.NextEpoch(topic, "kept", 1, isReturning: false);
        _nodes[0].Catalog.NextEpoch(topic, "gone", 1, isReturning: false);
        Assert.Equal((0ul, 0u), _nodes[0].Catalog.NextEpoch(topic, "new", 1, isReturning: false, mostNames: 2));
        await _nodes[0].Catalog.ForgetProducersAsync(topic, new HashSet<ulong> { kept });
        Assert.NotEqual(0ul, _nodes[0].Catalog.NextEpoch(topic, "new", 1, isReturning: false, mostNames: 2).Id);
        await AgreeAsync();
        Assert.Null(_nodes[1].Tables.FindProducer(topic, 0, "gone"));
    }

    [Fact]
    public async Task A_change_without_an_answer_is_in_doubt_until_the_stream_is_read_on()
    {
        var time = new ManualTime();
        MemoryEngine engine = await StartAsync(nodes: 1, time: time);
        CatalogNode node = _nodes[0];
        node.Engine.Cut();
        UnstoredException stored = await GivenUpAsync(node, time, () => node.CreateTopic("stored"));
        Assert.Equal(ErrorCode.OutcomeUnknown, stored.Code);
        Assert.False(stored.Outcome!.IsCompleted);
        Assert.Equal(Guid.Empty, node.IdOf("stored"));
        node.Engine.Heal(); // What was sent arrives.
        Assert.True(await stored.Outcome.WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.NotEqual(Guid.Empty, node.IdOf("stored"));

        node.Engine.Cut();
        UnstoredException refused = await GivenUpAsync(node, time, () => node.CreateTopic("refused"));
        CatalogNode other = await AddAsync(engine);
        other.CreateTopic("faster");
        node.Engine.Heal();
        Assert.False(await refused.Outcome!.WaitAsync(Patience, TestContext.Current.CancellationToken));
        await AgreeAsync();
        Assert.Equal(Guid.Empty, node.IdOf("refused"));
    }

    [Fact]
    public async Task A_node_whose_engine_does_not_answer_takes_nothing_away_either()
    {
        var time = new ManualTime();
        await StartAsync(nodes: 1, time: time);
        _nodes[0].Users.Create("alice", "hash");
        _nodes[0].Engine.Cut();
        UnstoredException error = await GivenUpAsync(_nodes[0], time, () => _nodes[0].Users.Delete("alice"));
        Assert.False(error.IsInForce);
        Assert.True(_nodes[0].Users.Table.Users.ContainsKey("alice"));
    }

    [Fact]
    public async Task Copies_in_parts_replace_what_is_purged_for_nodes_that_join_and_nodes_that_slept()
    {
        MemoryEngine engine = await StartAsync(nodes: 2, recordsPerCopy: 20, maxEntryBytes: 4_096);
        CatalogNode sleeper = await AddAsync(engine, follows: false);
        sleeper.Tables.HasListener = true;
        _nodes[0].CreateTopic("gone");
        sleeper.Catalog.CatchUp();
        Guid gone = sleeper.IdOf("gone");
        _nodes[0].Catalog.Delete("gone", out _);
        await AtOnceAsync(
            node =>
            {
                for (int i = 0; i < 60; i++)
                    node.Users.Create($"user.{Text(_nodes.IndexOf(node))}.{Text(i)}", new string('x', 100));
            },
            _nodes[..2]
        );
        _nodes[1].CreateTopic("orders");
        await Eventually.TrueAsync(
            () => engine[Stream].Entries is [{ Sequence: > 20 }, ..] and { Length: < 80 },
            Patience,
            () => $"{engine[Stream].Entries.Length} entries"
        );
        Assert.True(engine[Stream].Entries.Count(e => e.Kind == EntryKind.Snapshot) >= 4);
        Assert.All(engine[Stream].Entries, e => Assert.True(e.Payload.Length <= 4_096));

        CatalogNode joined = await AddAsync(engine);
        Assert.Equal(120, joined.Users.Table.Users.Count);
        sleeper.Catalog.CatchUp();
        List<CatalogNews> news = [];
        while (sleeper.Catalog.Read(out CatalogNews next))
            news.Add(next);
        Assert.Contains(news, n => n.Topic == gone);
        Assert.Contains(news, n => n.Topic == sleeper.IdOf("orders"));
        Assert.Contains(news, n => n.ChangesRights);
        Assert.All(news, n => Assert.False(n.IsLocal));
        Assert.Equal(Guid.Empty, sleeper.IdOf("gone"));
        await AgreeAsync();
    }

    [Fact]
    public async Task A_copy_that_is_not_complete_does_not_count()
    {
        MemoryEngine engine = await StartAsync(nodes: 1);
        _nodes[0].CreateTopic("orders");
        FaultyStream.Link stream = engine[Stream].Connect();
        var half = new CatalogEntry(
            Guid.NewGuid(),
            [],
            new CatalogEntry.CopyPart(Guid.NewGuid(), 2, Part: 0, Parts: 2)
        );
        Assert.Equal(
            AppendOutcome.Stored,
            (
                await stream.AppendAsync(EntryKind.Snapshot, half.Write(), 2, TestContext.Current.CancellationToken)
            ).Outcome
        );
        CatalogNode joined = await AddAsync(engine);
        Assert.NotEqual(Guid.Empty, joined.IdOf("orders"));
        joined.CreateTopic("more");
        await AgreeAsync();
    }

    [Fact]
    public async Task A_stream_whose_front_is_missing_is_no_catalog()
    {
        MemoryEngine engine = await StartAsync(nodes: 1);
        _nodes[0].CreateTopic("orders");
        _nodes[0].CreateTopic("bills");
        await engine[Stream].Connect().PurgeAsync(EntryKind.Data, 3, TestContext.Current.CancellationToken);
        var time = new ManualTime();
        ReplicationException error = await Assert.ThrowsAsync<ReplicationException>(() =>
            CatalogNode.OpenAsync(engine, time: time, failed: () => time.Advance(CatalogNode.Patience))
        );
        Assert.Contains("has no entry 1, and has 3 behind it", error.Message, StringComparison.Ordinal);
    }

    private static string Text(int value) => value.ToString(CultureInfo.InvariantCulture);

    private async Task<MemoryEngine> StartAsync(
        int nodes,
        double faults = 0,
        int recordsPerCopy = 1_000,
        int maxEntryBytes = 1 << 20,
        bool follows = true,
        TimeProvider? time = null
    )
    {
        var engine = new MemoryEngine { Faults = faults, MaxEntryBytes = maxEntryBytes };
        for (int i = 0; i < nodes; i++)
            _nodes.Add(await CatalogNode.OpenAsync(engine, recordsPerCopy, follows, time));
        return engine;
    }

    private async Task<CatalogNode> AddAsync(MemoryEngine engine, bool follows = true)
    {
        CatalogNode node = await CatalogNode.OpenAsync(engine, follows: follows);
        _nodes.Add(node);
        return node;
    }

    /// <summary>A change that is sent, and whose time is over before there is an answer.</summary>
    private static async Task<UnstoredException> GivenUpAsync(CatalogNode node, ManualTime time, Action change)
    {
        CancellationToken cancelled = TestContext.Current.CancellationToken;
        var changing = Task.Run(change, cancelled);
        await Eventually.TrueAsync(() => node.Engine.Held != 0, Patience, () => "Nothing was sent");
        time.Advance(CatalogNode.Patience);
        return await Assert.ThrowsAsync<UnstoredException>(() => changing.WaitAsync(Patience, cancelled));
    }

    private Task AtOnceAsync(Action<CatalogNode> act) => AtOnceAsync(act, _nodes);

    private static Task AtOnceAsync(Action<CatalogNode> act, IReadOnlyList<CatalogNode> nodes) =>
        Task.WhenAll(
            nodes.Select(node =>
                Task.Factory.StartNew(
                    () => act(node),
                    CancellationToken.None,
                    TaskCreationOptions.LongRunning,
                    TaskScheduler.Default
                )
            )
        );

    /// <summary>Sooner or later all nodes know the same.</summary>
    private Task AgreeAsync() =>
        Eventually.TrueAsync(
            () => _nodes.TrueForAll(node => node.Known.SequenceEqual(_nodes[0].Known)),
            Patience,
            () => string.Join('\n', _nodes.Select(node => string.Join(' ', node.Known)))
        );
}
