using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Storage;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Catalog;

/// <summary>Brokers that share a catalog, over an engine in memory.</summary>
public sealed class BrokersOfAClusterTests : IAsyncLifetime
{
    private readonly MemoryEngine _engine = new();
    private readonly List<TemporaryDirectory> _directories = [];
    private BrokerPair _pair = null!;

    public async ValueTask InitializeAsync() =>
        _pair = await BrokerPair.StartAsync(_engine, new MemoryEngine(_engine), "shop");

    public async ValueTask DisposeAsync()
    {
        await _pair.DisposeAsync();
        foreach (TemporaryDirectory directory in _directories)
            directory.Dispose();
    }

    [Fact]
    public async Task A_topic_without_replicas_is_known_everywhere_and_served_where_it_was_made()
    {
        Topic made = _pair.A.CreateTopic("orders", BrokerPair.Durable with { Partitions = 2 });
        await _pair.OnBAsync(b => b.TryGetTopic("orders", out _), "the topic");
        ThereOnly();
        BrokerException taken = Assert.Throws<BrokerException>(() => _pair.B.CreateTopic("orders", BrokerPair.Durable));
        Assert.Equal(ErrorCode.TopicExists, taken.Code);

        await _pair.RestartBAsync();
        ThereOnly();
        Assert.Equal("", _pair.A.GetTopic("orders").Failure);
        Assert.False(_pair.A.GetTopic("orders").IsIncomplete);
        CancellationToken cancelled = TestContext.Current.CancellationToken;
        // A's backup has it, B's has nothing of it.
        Assert.Empty((await _pair.A.BeginBackupAsync(skipFailed: false, cancelled)).SkippedTopics);
        Assert.Empty((await _pair.B.BeginBackupAsync(skipFailed: false, cancelled)).SkippedTopics);

        void ThereOnly()
        {
            Topic known = _pair.B.GetTopic("orders");
            Assert.Equal((made.Id, made.Settings, made.Created), (known.Id, known.Settings, known.Created));
            Assert.All(
                known.Partitions,
                p => Assert.Equal(("a", ErrorCode.NotLeader), (p.Refusal!.Node, p.Refusal.Code))
            );
            Assert.Equal(2, known.Partitions.Length);
            Assert.Equal("", known.Failure);
            NotLeaderException elsewhere = Assert.Throws<NotLeaderException>(() => known.GetPartition(1));
            Assert.Contains("on the node 'a'", elsewhere.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_topic_is_changed_and_deleted_from_any_node()
    {
        Topic made = _pair.A.CreateTopic("orders", BrokerPair.Durable);
        string files = Path.Combine(_pair.DirectoryA, "topics", made.Id.ToString("N"));
        Assert.True(Directory.Exists(files));
        await _pair.OnBAsync(b => b.TryGetTopic("orders", out _), "the topic");

        Topic known = _pair.B.GetTopic("orders");
        await _pair.B.ChangeSettingsAsync(known, known.Settings with { RetentionBytes = 1 << 30 });
        Assert.Equal(1 << 30, known.Settings.RetentionBytes);
        int changes = 0;
        _pair.A.Users.Changed += () => Interlocked.Increment(ref changes);
        _pair.B.SetCredentials("orders", TopicCredentials.Create("till", "a password"));
        await Eventually.TrueAsync(
            () => made.Settings.RetentionBytes == 1 << 30 && made.Credentials?.User == "till" && changes != 0,
            BrokerPair.Patience,
            () => "A does not know of the change"
        );
        Assert.Null(made.Partitions[0].Refusal); // It is served on, and was not opened again.

        await _pair.B.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        Assert.False(_pair.B.TryGetTopic("orders", out _));
        await made.Deleted.WaitAsync(BrokerPair.Patience, TestContext.Current.CancellationToken);
        await Eventually.TrueAsync(
            () => !_pair.A.TryGetTopic("orders", out _) && !Directory.Exists(files),
            BrokerPair.Patience,
            () => "A still has the topic"
        );
        _pair.B.CreateTopic("orders", BrokerPair.Durable);
        await Eventually.TrueAsync(
            () => _pair.A.TryGetTopic("orders", out Topic? again) && again.Partitions[0].Refusal?.Node == "b",
            BrokerPair.Patience,
            () => "A does not know the new topic"
        );
    }

    [Fact]
    public async Task Users_rights_and_tokens_are_the_same_and_rights_are_lost_everywhere()
    {
        int changes = 0;
        _pair.B.Users.Changed += () => Interlocked.Increment(ref changes);
        _pair.A.Users.Create("alice", "hash");
        _pair.A.Users.Grant("alice", Grant.Create(Right.Consume, "orders.*"));
        AccessToken token = _pair.A.Users.AddToken("alice", "HASH", expires: null, "till");
        await _pair.OnBAsync(b => b.Users.Table.Tokens.ContainsKey("HASH") && changes != 0, "the token");
        Assert.True(_pair.B.Users.Get("alice").May(Right.Consume, "orders.eu"));

        int before = changes;
        Assert.True(_pair.A.Users.Revoke("alice", Grant.Create(Right.Consume, "orders.*")));
        await _pair.OnBAsync(
            b => !b.Users.Get("alice").May(Right.Consume, "orders.eu") && changes > before,
            "the loss"
        );
        Assert.False(_pair.B.Users.Revoke("alice", Grant.Create(Right.Consume, "orders.*")));
        _pair.B.Users.RevokeToken(token.Id);
        _pair.B.Users.Delete("alice");
        await Eventually.TrueAsync(
            () => _pair.A.Users.Table.Users.IsEmpty && _pair.A.Users.Table.Tokens.IsEmpty,
            BrokerPair.Patience,
            () => "A still knows alice"
        );
    }

    [Fact]
    public async Task A_topic_with_replicas_is_made_once_and_its_streams_go_with_it()
    {
        Topic made = _pair.A.CreateTopic("orders", BrokerPair.Durable with { Replicas = 3, Partitions = 2 });
        await _pair.OnBAsync(b => b.TryGetTopic("orders", out _), "the topic");
        Assert.Equal(made.Id, _pair.B.GetTopic("orders").Id);
        Assert.Equal(3, _engine.Names.Count);
        Assert.Throws<BrokerException>(() => _pair.B.CreateTopic("orders", BrokerPair.Durable with { Replicas = 3 }));
        Assert.Equal(3, _engine.Names.Count);
        await _pair.B.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        await Eventually.TrueAsync(
            () => !_pair.A.TryGetTopic("orders", out _) && _engine.Names.Count == 1,
            BrokerPair.Patience,
            () => string.Join(' ', _engine.Names)
        );
    }

    [Fact]
    public async Task A_broker_that_was_alone_brings_its_topics_and_users_along()
    {
        string directory = NewDirectory();
        Guid id;
        await using (LightQBroker alone = await OpenAsync(directory, new BrokerOptions()))
        {
            id = alone.CreateTopic("bills", BrokerPair.Durable).Id;
            alone.Users.Create("bob", "hash");
            alone.Users.AddToken("bob", "BOB", expires: null, "");
        }
        await using (LightQBroker joined = await OpenAsync(directory, Joining("c")))
        {
            Assert.Null(joined.GetTopic("bills").Partitions[0].Refusal);
            await _pair.OnBAsync(b => b.Users.Table.Tokens.ContainsKey("BOB"), "bob's token");
            await _pair.OnBAsync(b => b.TryGetTopic("bills", out _), "the topic");
            Assert.Equal(id, _pair.B.GetTopic("bills").Id);
            Assert.Equal("c", _pair.B.GetTopic("bills").Partitions[0].Refusal!.Node);
            Assert.Equal("hash", _pair.B.Users.Get("bob").Password);
        }

        DataDirectoryException alone2 = await Assert.ThrowsAsync<DataDirectoryException>(() =>
            OpenAsync(directory, new BrokerOptions())
        );
        Assert.Contains("set Cluster:Engine", alone2.Message, StringComparison.Ordinal);
        DataDirectoryException renamed = await Assert.ThrowsAsync<DataDirectoryException>(() =>
            OpenAsync(directory, Joining("d"))
        );
        Assert.Contains("Cluster:Node is 'd'", renamed.Message, StringComparison.Ordinal);
        await Eventually.TrueAsync(
            () => _pair.A.TryGetTopic("bills", out _),
            BrokerPair.Patience,
            () => "A does not know the topic"
        );
        await _pair.A.DeleteTopicAsync("bills", TestContext.Current.CancellationToken);
        await using LightQBroker again = await OpenAsync(directory, Joining("d"));
        Assert.False(again.TryGetTopic("bills", out _)); // It did not come back from the file.
    }

    [Fact]
    public async Task A_broker_that_was_alone_and_has_a_name_that_is_taken_does_not_join()
    {
        _pair.A.CreateTopic("bills", BrokerPair.Durable);
        string directory = NewDirectory();
        await using (LightQBroker alone = await OpenAsync(directory, new BrokerOptions()))
        {
            alone.CreateTopic("orders", BrokerPair.Durable);
            alone.CreateTopic("bills", BrokerPair.Durable);
        }
        DataDirectoryException taken = await Assert.ThrowsAsync<DataDirectoryException>(() =>
            OpenAsync(directory, Joining("c"))
        );
        Assert.Contains("another topic 'bills'", taken.Message, StringComparison.Ordinal);
        Assert.False(_pair.A.TryGetTopic("orders", out _));
        await using LightQBroker still = await OpenAsync(directory, new BrokerOptions());
        Assert.Equal(2, still.Topics.Count());
    }

    [Fact]
    public async Task A_node_of_one_cluster_refuses_another_of_its_name()
    {
        string directory = NewDirectory();
        await using (LightQBroker node = await OpenAsync(directory, Joining("c")))
        {
            // It belongs to the cluster from now on.
        }
        DataDirectoryException empty = await Assert.ThrowsAsync<DataDirectoryException>(() =>
            OpenAsync(directory, BrokerPair.OptionsOf(new MemoryEngine(), "c"))
        );
        Assert.Contains("is empty", empty.Message, StringComparison.Ordinal);

        var others = new MemoryEngine();
        await using LightQBroker stranger = await OpenAsync(NewDirectory(), BrokerPair.OptionsOf(others, "x"));
        DataDirectoryException other = await Assert.ThrowsAsync<DataDirectoryException>(() =>
            OpenAsync(directory, BrokerPair.OptionsOf(new MemoryEngine(others), "c"))
        );
        Assert.Contains("is that of another cluster", other.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_topic_whose_record_was_in_doubt_is_served_when_it_turns_up()
    {
        var engine = new MemoryEngine(_engine);
        BrokerOptions options = BrokerPair.OptionsOf(engine, "c");
        var time = new ManualTime();
        await using LightQBroker node = await LightQBroker.OpenAsync(NewDirectory(), options, time);
        engine.Cut();
        CancellationToken cancelled = TestContext.Current.CancellationToken;
        Task<Topic> creating = Task.Run(() => node.CreateTopic("orders", BrokerPair.Durable), cancelled);
        await Eventually.TrueAsync(() => engine.Held != 0, BrokerPair.Patience, () => "Nothing was sent");
        time.Advance(options.Replication!.CatalogPatience);
        UnstoredException doubt = await Assert.ThrowsAsync<UnstoredException>(() =>
            creating.WaitAsync(BrokerPair.Patience, cancelled)
        );
        Assert.Equal(ErrorCode.OutcomeUnknown, doubt.Code);
        Assert.False(node.TryGetTopic("orders", out _));
        engine.Heal();
        await _pair.OnBAsync(b => b.TryGetTopic("orders", out _), "the topic");
        await Eventually.TrueAsync(
            () => node.TryGetTopic("orders", out Topic? topic) && topic.Partitions[0].Refusal is null,
            BrokerPair.Patience,
            () => "The topic is not served"
        );
    }

    private BrokerOptions Joining(string node) => BrokerPair.OptionsOf(new MemoryEngine(_engine), node);

    private static Task<LightQBroker> OpenAsync(string directory, BrokerOptions options) =>
        LightQBroker.OpenAsync(directory, options, TimeProvider.System);

    private string NewDirectory()
    {
        _directories.Add(new TemporaryDirectory());
        return _directories[^1].Path;
    }
}
