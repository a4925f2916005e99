using System.Diagnostics;
using System.Globalization;
using LightQ.Client;
using LightQ.ClusterTests.Faults;
using LightQ.ClusterTests.Nats;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Producers;

/// <summary>Brokers whose pool has two threads and gets no more: nothing may block one of them.</summary>
[Collection(NatsTests.Name)]
public sealed class SmallPoolTests(NatsFixture nats)
{
    private const string Topic = "orders";
    private const int Partitions = 4;

    /// <summary>Against hangs: a machine with two cores takes a second or two.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_hundred_named_producers_open_and_no_partition_changes_its_leader()
    {
        FaultRun.RequireTier("Three brokers start.");
        await using BrokerCluster cluster = await BrokerCluster.StartAsync(
            nats.Cluster,
            "small",
            ("DOTNET_ThreadPool_ForceMinWorkerThreads", "2"),
            ("DOTNET_ThreadPool_ForceMaxWorkerThreads", "2")
        );
        await using LightQClient client = cluster.Connect();
        await client.Topics.CreateAsync(
            new TopicSpec(Topic)
            {
                Kind = TopicKind.Durable,
                Replicas = 3,
                Partitions = Partitions,
            },
            Cancelled
        );
        await cluster.SettleAsync(client, Topic);
        long[] before = await EpochsAsync(client);
        var watch = Stopwatch.StartNew();
        Producer[] producers = await Task.WhenAll(Enumerable.Range(0, 100).Select(OpenAsync))
            .WaitAsync(Patience, Cancelled);
        TimeSpan opened = watch.Elapsed;
        await Task.WhenAll(producers.Select(p => p.PublishAsync("body"u8, cancellationToken: Cancelled).AsTask()))
            .WaitAsync(Patience, Cancelled);
        TestContext.Current.TestOutputHelper?.WriteLine(
            string.Create(
                CultureInfo.InvariantCulture,
                $"opened {opened.TotalSeconds:0.00} s, published {watch.Elapsed.TotalSeconds:0.00} s"
            )
        );
        await KeptAsync();
        // They are all opened a second time, with topics that are made between them.
        Task[] changes =
        [
            .. Enumerable
                .Range(0, 20)
                .Select(i => client.Topics.CreateAsync(new TopicSpec(FormattableString.Invariant($"t{i}")), Cancelled)),
        ];
        Producer[] again = await Task.WhenAll(Enumerable.Range(0, 100).Select(OpenAsync))
            .WaitAsync(Patience, Cancelled);
        await Task.WhenAll(changes).WaitAsync(Patience, Cancelled);
        await KeptAsync();
        foreach (Producer producer in producers.Concat(again))
            await producer.DisposeAsync();

        async Task KeptAsync()
        {
            long[] now = await EpochsAsync(client);
            Assert.True(before.SequenceEqual(now), $"The epochs are {string.Join(", ", now)}.\n{cluster.Logs()}");
        }

        static async Task<long[]> EpochsAsync(LightQClient client) =>
            [.. (await client.Cluster.GetAsync([Topic], Cancelled)).Partitions.Select(p => p.Epoch)];

        Task<Producer> OpenAsync(int i) =>
            client.CreateProducerAsync(
                Topic,
                new ProducerOptions { Name = FormattableString.Invariant($"importer{i}") },
                Cancelled
            );
    }
}
