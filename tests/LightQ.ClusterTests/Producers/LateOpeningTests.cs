using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.ClusterTests.Catalog;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Protocol.Frames;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.ClusterTests.Producers;

/// <summary>What was asked for on a connection that has ended meanwhile has no effect.</summary>
public sealed class LateOpeningTests
{
    private const string Catalog = "LQ_shop_catalog";

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task An_opening_that_waits_for_the_catalog_is_dropped_when_its_connection_ends()
    {
        await using LateCluster cluster = await LateCluster.StartAsync();
        (ProducerStream living, ProducerOpenedFrame opened) = await cluster.OpenAsync(new Owner(), instance: 2);
        int records = cluster.Records;
        cluster.Engine.CutStream(Catalog);
        Owner gone = new(),
            there = new();
        Task<(ProducerStream, ProducerOpenedFrame)> first = cluster.OpenAsync(there, instance: 3, name: "another"),
            late = cluster.OpenAsync(gone, instance: 1);
        Assert.False(late.IsCompleted);
        gone.HasEnded = true;
        cluster.Engine.Heal();
        await first;
        BrokerException dropped = await Assert.ThrowsAsync<BrokerException>(() => late);
        Assert.Equal(ErrorCode.Closed, dropped.Code);
        Assert.Equal(records + 1, cluster.Records);
        // The living one has its name and its epoch yet.
        Assert.Equal(opened.ProducerEpoch, cluster.EpochOf(opened.ProducerId));
        Assert.Null(living.CloseRequested);
        Assert.True((await cluster.OpenAsync(new Owner(), instance: 2, isReturning: true)).Opened.ProducerEpoch > 0);
    }

    [Fact]
    public async Task An_earlier_opening_of_the_same_instance_leaves_the_epoch_of_the_later_alone()
    {
        await using LateCluster cluster = await LateCluster.StartAsync();
        (_, ProducerOpenedFrame opened) = await cluster.OpenAsync(new Owner(), instance: 1, number: 8);
        BrokerException late = await Assert.ThrowsAsync<BrokerException>(() =>
            cluster.OpenAsync(new Owner(), instance: 1, number: 7, isReturning: true)
        );
        Assert.Equal(ErrorCode.Closed, late.Code);
        Assert.Equal(opened.ProducerEpoch, cluster.EpochOf(opened.ProducerId));
        (_, ProducerOpenedFrame again) = await cluster.OpenAsync(
            new Owner(),
            instance: 1,
            number: 9,
            isReturning: true
        );
        Assert.Equal(again.ProducerEpoch, cluster.EpochOf(opened.ProducerId));
    }

    [Theory]
    [InlineData("")]
    [InlineData("workers")]
    public async Task A_connection_that_has_ended_subscribes_to_nothing(string group)
    {
        await using LateCluster cluster = await LateCluster.StartAsync();
        var gone = new Owner { HasEnded = true };
        Assert.Equal(
            ErrorCode.Closed,
            Assert
                .Throws<BrokerException>(() =>
                    cluster.Broker.Subscribe(
                        gone,
                        1,
                        new SubscribeFrame(
                            LateCluster.Name,
                            0,
                            group,
                            StartKind.Earliest,
                            0,
                            0,
                            0,
                            0,
                            SettleMode.Automatic,
                            SlowPolicy.TopicDefault,
                            0
                        ),
                        out _
                    )
                )
                .Code
        );
        Assert.Empty(cluster.Partition.Subscriptions);
        Assert.Empty(cluster.Partition.Groups());
        BrokerException refused = await Assert.ThrowsAsync<BrokerException>(() =>
            cluster.OpenAsync(gone, instance: 1, name: "")
        );
        Assert.Equal(ErrorCode.Closed, refused.Code);
        Assert.Empty(cluster.Partition.Producers);
    }

    [Fact]
    public async Task Openings_that_wait_together_share_an_entry_and_hold_no_thread()
    {
        await using LateCluster cluster = await LateCluster.StartAsync();
        int records = cluster.Records;
        cluster.Engine.CutStream(Catalog);
        Task<(ProducerStream, ProducerOpenedFrame)>[] opening =
        [
            .. Enumerable
                .Range(0, 200)
                .Select(i => cluster.OpenAsync(new Owner(), 1, FormattableString.Invariant($"importer{i}"))),
        ];
        cluster.Engine.Heal();
        await Task.WhenAll(opening);
        Assert.InRange(cluster.Records - records, 1, 2); // The first one went alone.
    }

    /// <summary>A connection, as the engine sees it.</summary>
    private sealed class Owner : IStreamOwner
    {
        public uint ConnectionId => 1;

        public bool HasEnded { get; set; }

        public void Schedule(OutputStream stream)
        {
            // Nothing is sent.
        }
    }

    /// <summary>A broker on an engine in memory, with a topic of one partition.</summary>
    private sealed class LateCluster : IAsyncDisposable
    {
        public const string Name = "orders";

        private readonly TemporaryDirectory _directory = new();
        private uint _last;

        public MemoryEngine Engine { get; } = new();

        public LightQBroker Broker { get; private set; } = null!;

        public int Records => Engine[Catalog].Entries.Length;

        public Partition Partition => Broker.GetTopic(Name).Partitions[0];

        public static async Task<LateCluster> StartAsync()
        {
            var cluster = new LateCluster();
            cluster.Broker = await LightQBroker.OpenAsync(
                cluster._directory.Path,
                BrokerPair.OptionsOf(cluster.Engine, "a"),
                TimeProvider.System
            );
            await Task.Run(
                () => cluster.Broker.CreateTopic(Name, new TopicSettings { Kind = TopicKind.Durable, Replicas = 3 }),
                Cancelled
            );
            // An entry of the catalog, too, which comes a little after the claim.
            await Eventually.TrueAsync(
                () => cluster.Broker.Catalog.FindOwner(cluster.Partition.Topic.Id, 0) is not null,
                TimeSpan.FromMinutes(1),
                () => "The owner of the partition is not noted."
            );
            return cluster;
        }

        public async Task<(ProducerStream Stream, ProducerOpenedFrame Opened)> OpenAsync(
            IStreamOwner owner,
            ulong instance,
            string name = "importer",
            ulong number = 0,
            bool isReturning = false
        ) =>
            await Broker.OpenProducerAsync(
                owner,
                ++_last,
                new OpenProducerFrame(Name, 0, Durability.Default, name, instance, isReturning, number)
            );

        public uint EpochOf(ulong producer)
        {
            lock (Partition.AppendLock)
                return Partition.NamedProducers.Find(producer)!.Epoch;
        }

        public async ValueTask DisposeAsync()
        {
            await Broker.DisposeAsync();
            _directory.Dispose();
        }
    }
}
