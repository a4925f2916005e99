using System.Globalization;
using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests;
using LightQ.Server;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>Topics with replicas on a real broker, through the client, over an engine in memory.</summary>
public sealed class ReplicatedTopicTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _directory = new();
    private readonly MemoryEngine _engine = new();
    private LightQServer _server = null!;

    /// <summary>The streams of partitions.</summary>
    private List<string> Streams => [.. _engine.Names.Where(name => name != "LQ_shop_catalog")];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync() => await StartAsync();

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        _directory.Dispose();
    }

    [Fact]
    public async Task What_is_published_is_in_the_streams_and_consumed_and_still_there_after_a_restart()
    {
        await CreateAsync(partitions: 2);
        Assert.Equal(2, Streams.Count);
        await PublishAsync(first: 0, count: 100);
        Assert.Equal(Enumerable.Range(0, 100), await ConsumeAsync(100));
        Assert.All(Streams, name => Assert.Contains(_engine[name].Entries, e => e.Kind == EntryKind.Data));

        await _server.DisposeAsync();
        // The snapshot is written while the node still serves, and positions behind it, which name it.
        Assert.All(
            Streams,
            name =>
                Assert.Equal([EntryKind.Snapshot, EntryKind.Positions], _engine[name].Entries[^2..].Select(e => e.Kind))
        );
        await StartAsync();
        await PublishAsync(first: 100, count: 50);
        Assert.Equal(Enumerable.Range(0, 150), await ConsumeAsync(150));
        Assert.All(Streams, name => Assert.Equal(0, new StreamChecker(_engine[name].Entries).Void));
    }

    [Fact]
    public async Task A_named_producer_goes_on_when_others_claim_and_when_the_engine_does_not_answer()
    {
        await CreateAsync(partitions: 1);
        string name = Streams.Single();
        Task publishing = PublishAsync(first: 0, count: 500);
        for (int i = 0; i < 5; i++)
        {
            await Task.Delay(100, Cancelled);
            await new Takeover(_engine[name].Connect(), new Bystander(), TimeProvider.System).ClaimAsync(
                "another",
                heldTo: 0,
                Cancelled
            );
        }
        await Task.Delay(100, Cancelled);
        _engine.Cut();
        await Task.Delay(200, Cancelled);
        _engine.Heal();
        await publishing.WaitAsync(TimeSpan.FromMinutes(1), Cancelled);
        Assert.Equal(Enumerable.Range(0, 500), await ConsumeAsync(500));
        var checker = new StreamChecker(_engine[name].Entries);
        Assert.Equal(500, checker.Log.Count);
        Assert.Equal(0, checker.Void);
        Assert.True(checker.Epoch >= 7, $"Only {checker.Epoch} claims.");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_full_engine_stops_publishing_with_its_figures_and_nothing_else(bool storesOne)
    {
        Topic topic = await CreateAsync(partitions: 1);
        await PublishAsync(first: 0, count: 10);
        FaultyStream stream = _engine[Streams.Single()];
        (stream.StoresWhenFull, stream.Full) = (storesOne, "the account holds 10 bytes of 10");
        await using var client = new LightQClient(_server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        Task<PublishAck> waiting = producer.PublishAsync("10"u8.ToArray(), cancellationToken: Cancelled).AsTask();
        await Eventually.TrueAsync(
            () => topic.Partitions[0].Log.IsDiskFull,
            TimeSpan.FromMinutes(1),
            () => "It does not notice."
        );
        await using Producer another = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
            await another.PublishAsync("11"u8.ToArray(), cancellationToken: Cancelled)
        );
        Assert.Equal(ErrorCode.DiskFull, refused.Code);
        Assert.Equal("the account holds 10 bytes of 10", topic.Partitions[0].Log.FullReason);
        Assert.Equal("", topic.Failure);
        Assert.Equal(Enumerable.Range(0, 10), await ConsumeAsync(10));

        stream.Full = null;
        await waiting.WaitAsync(TimeSpan.FromMinutes(1), Cancelled);
        Assert.Equal(Enumerable.Range(0, 11), await ConsumeAsync(11));
        Assert.Single(stream.Entries, e => e.Kind == EntryKind.Claim); // It never gave the partition up.
    }

    [Fact]
    public async Task A_topic_that_is_deleted_takes_its_streams_along()
    {
        await CreateAsync(partitions: 3);
        Assert.Equal(3, Streams.Count);
        await _server.Broker.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        Assert.Empty(Streams);
    }

    private Task<Topic> CreateAsync(uint partitions) =>
        Task.Run(
            () =>
                _server.Broker.CreateTopic(
                    "orders",
                    new TopicSettings
                    {
                        Kind = Broker.Topics.TopicKind.Durable,
                        Replicas = 3,
                        Partitions = partitions,
                    }
                ),
            Cancelled
        );

    private async Task StartAsync() =>
        _server = await LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = _directory.Path,
                Broker = new BrokerOptions
                {
                    Replication = new ReplicationOptions
                    {
                        Engine = _engine,
                        Cluster = "shop",
                        Node = "a",
                    },
                },
            },
            cancellationToken: Cancelled
        );

    private async Task PublishAsync(int first, int count)
    {
        await using var client = new LightQClient(LightQClientOptions.Parse(_server.ConnectionString));
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = "shop" },
            Cancelled
        );
        for (int i = first; i < first + count; i++)
        {
            string text = i.ToString(CultureInfo.InvariantCulture);
            await producer.PublishAsync(System.Text.Encoding.UTF8.GetBytes(text), text, cancellationToken: Cancelled);
        }
    }

    private async Task<IEnumerable<int>> ConsumeAsync(int count)
    {
        await using var client = new LightQClient(LightQClientOptions.Parse(_server.ConnectionString));
        List<int> found = [];
        await foreach (
            Message message in client.ConsumeAsync(
                "orders",
                new ConsumeOptions { Start = StartPosition.Earliest },
                Cancelled
            )
        )
        {
            found.Add(int.Parse(System.Text.Encoding.UTF8.GetString(message.Body.Span), CultureInfo.InvariantCulture));
            if (found.Count == count)
                break;
        }
        return found.Order();
    }
}
