using LightQ.Broker;
using LightQ.Broker.Catalog;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using Xunit;

namespace LightQ.ClusterTests.Catalog;

/// <summary>
/// A node whose copy of the catalog is old refuses nothing by it: it reads on first, or the change itself decides. No
/// node here reads on by itself.
/// </summary>
public sealed class OldCopyTests : IDisposable
{
    private CatalogNode _ahead = null!,
        _behind = null!;

    private MemoryEngine _engine = null!;

    public void Dispose()
    {
        _ahead?.Dispose();
        _behind?.Dispose();
    }

    [Fact]
    public async Task A_producer_that_returns_is_not_fenced_by_the_instance_before_it()
    {
        Guid topic = await StartWithTopicAsync();
        _ahead.Catalog.NextEpoch(topic, "importer", 1, isReturning: false);
        _behind.Catalog.CatchUp();
        (ulong id, uint first) = _ahead.Catalog.NextEpoch(topic, "importer", 2, isReturning: false);
        (ulong again, uint second) = _behind.Catalog.NextEpoch(topic, "importer", 2, isReturning: true);
        Assert.Equal(id, again);
        Assert.True(second > first);
        BrokerException fenced = Assert.Throws<BrokerException>(() =>
            _behind.Catalog.NextEpoch(topic, "importer", 1, isReturning: true)
        );
        Assert.Equal(ErrorCode.Fenced, fenced.Code);
    }

    [Fact]
    public async Task A_topic_that_was_made_just_now_is_not_unknown_to_a_producer()
    {
        await StartAsync();
        _ahead.CreateTopic("orders");
        Guid topic = _ahead.IdOf("orders");
        Assert.NotEqual(0ul, _behind.Catalog.NextEpoch(topic, "importer", 1, isReturning: false).Id);
        Assert.Equal(
            ErrorCode.UnknownTopic,
            Assert
                .Throws<BrokerException>(() =>
                    _behind.Catalog.NextEpoch(Guid.NewGuid(), "importer", 1, isReturning: false)
                )
                .Code
        );
    }

    [Fact]
    public async Task Names_that_were_forgotten_just_now_do_not_count_against_the_limit()
    {
        Guid topic = await StartWithTopicAsync();
        _ahead.Catalog.NextEpoch(topic, "gone", 1, isReturning: false);
        _behind.Catalog.CatchUp();
        await _ahead.Catalog.ForgetProducersAsync(topic, new HashSet<ulong>());
        Assert.NotEqual(0ul, _behind.Catalog.NextEpoch(topic, "new", 1, isReturning: false, mostNames: 1).Id);
        Assert.Equal((0ul, 0u), _behind.Catalog.NextEpoch(topic, "one more", 1, isReturning: false, mostNames: 1));
    }

    [Fact]
    public async Task What_another_node_has_changed_of_topics_and_users_is_seen_by_each_change()
    {
        await StartAsync();
        _ahead.CreateTopic("orders");
        _behind.Catalog.SetCredentials("orders", null);
        _ahead.Users.Create("alice", "hash");
        var grant = Grant.Create(Right.Publish, "orders");
        Assert.True(_behind.Users.Grant("alice", grant));
        Assert.True(_ahead.Users.Revoke("alice", grant));
        Assert.True(_behind.Users.Grant("alice", grant));
        Assert.False(_ahead.Users.Grant("alice", grant));
        AccessToken token = _ahead.Users.AddToken("alice", "token", null, "");
        _behind.Users.SetPassword("alice", "another");
        _ahead.Users.Delete("alice");
        _behind.Users.Create("alice", "hash");
        Assert.Throws<BrokerException>(() => _ahead.Users.Create("alice", "hash"));
        _ahead.Catalog.Delete("orders", out _);
        _behind.CreateTopic("orders");
        _ahead.Catalog.Delete("orders", out _);
        Assert.Throws<BrokerException>(() => _behind.Catalog.Delete("orders", out _));
        Assert.DoesNotContain(token.Id, _behind.Users.Table.Tokens.Values.Select(t => t.Id));
    }

    [Fact]
    public async Task Nothing_is_refused_while_the_catalog_cannot_be_read()
    {
        Guid topic = await StartWithTopicAsync(TimeSpan.FromMilliseconds(200));
        _ahead.Catalog.NextEpoch(topic, "importer", 1, isReturning: false);
        _behind.Catalog.CatchUp();
        _behind.Engine.Cut();
        foreach (
            Action refused in new Action[]
            {
                () => _behind.Catalog.NextEpoch(topic, "importer", 2, isReturning: true),
                () => _behind.Users.Delete("alice"),
                () => _behind.CreateTopic("orders"),
            }
        )
        {
            Assert.Equal(ErrorCode.Unavailable, Assert.ThrowsAny<BrokerException>(refused).Code);
        }
    }

    [Fact]
    public async Task Producers_that_wait_together_get_one_entry()
    {
        Guid topic = await StartWithTopicAsync();
        int before = _engine["LQ_shop_catalog"].Entries.Length;
        NameRequest[] requests =
        [
            .. Enumerable
                .Range(0, 100)
                .Select(i => new NameRequest
                {
                    Topic = topic,
                    Name = FormattableString.Invariant($"importer{i / 2}"),
                    Instance = (ulong)i + 1,
                }),
        ];
        await _behind.Catalog.NextEpochsAsync(requests);
        Assert.Equal(before + 1, _engine["LQ_shop_catalog"].Entries.Length);
        Assert.All(requests, r => Assert.NotEqual((0ul, 0u), (r.Id, r.Epoch)));
        Assert.Equal(100, requests.Select(r => (r.Id, r.Epoch)).Distinct().Count());
        Assert.Equal(50, requests.Select(r => r.Id).Distinct().Count());
        // And the last of each name has it.
        _ahead.Catalog.CatchUp();
        Assert.Equal(2ul, _ahead.Tables.FindProducer(topic, 0, "importer0")!.Instance);
    }

    [Fact]
    public async Task An_opening_with_a_lower_number_never_takes_a_name_from_one_with_a_higher()
    {
        Guid topic = await StartWithTopicAsync();
        _ahead.Catalog.NextEpoch(topic, "importer", 2, isReturning: false, number: 20);
        OvertakenException late = Assert.Throws<OvertakenException>(() =>
            _behind.Catalog.NextEpoch(topic, "importer", 1, isReturning: false, number: 10)
        );
        Assert.Equal((ErrorCode.Fenced, 20ul), (late.Code, late.Number));
        Assert.Equal(2ul, _behind.Tables.FindProducer(topic, 0, "importer")!.Instance);
        Assert.NotEqual(0ul, _behind.Catalog.NextEpoch(topic, "importer", 1, isReturning: false, number: 21).Id);
        // A client of an earlier version numbers nothing, and takes it as ever.
        Assert.NotEqual(0ul, _ahead.Catalog.NextEpoch(topic, "importer", 3, isReturning: false).Id);
        Assert.NotEqual(0ul, _behind.Catalog.NextEpoch(topic, "importer", 4, isReturning: false, number: 1).Id);
    }

    [Fact]
    public async Task A_change_whose_asker_gives_up_while_it_waits_is_dropped()
    {
        await StartAsync();
        using var asking = new CancellationTokenSource();
        _behind.Engine.Cut();
        Task first = RunAsync(() => _behind.CreateTopic("first"), CancellationToken.None),
            second = RunAsync(() => _behind.CreateTopic("second"), asking.Token);
        await asking.CancelAsync();
        _behind.Engine.Heal();
        await first;
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second);
        _ahead.Catalog.CatchUp();
        Assert.NotEqual(Guid.Empty, _ahead.IdOf("first"));
        Assert.Equal(Guid.Empty, _ahead.IdOf("second"));
    }

    /// <summary>As the server has changes made; it goes on when the change waits.</summary>
    private static Task RunAsync(Action change, CancellationToken asker)
    {
        var begun = new ManualResetEventSlim();
        Task made = Task.Factory.StartNew(
            () =>
            {
                CatalogAsker.Token = asker;
                begun.Set();
                change();
            },
            CancellationToken.None,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default
        );
        begun.Wait(TestContext.Current.CancellationToken);
        return made;
    }

    private async Task<Guid> StartWithTopicAsync(TimeSpan? patience = null)
    {
        await StartAsync(patience);
        _ahead.CreateTopic("orders");
        _behind.Catalog.CatchUp();
        return _ahead.IdOf("orders");
    }

    private async Task StartAsync(TimeSpan? patience = null)
    {
        _engine = new MemoryEngine();
        _ahead = await CatalogNode.OpenAsync(_engine, follows: false);
        _behind = await CatalogNode.OpenAsync(_engine, follows: false, patience: patience);
    }
}
