using LightQ.Broker.Cluster;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.ClusterTests.Faults;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>A connection over which nothing comes any more in one direction: both ends find out, and say so.</summary>
public sealed class HalfDeadTests
{
    /// <summary>Three heartbeats of a cluster are over in three seconds, those of the default in thirty.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task It_ends_at_both_ends_and_everything_goes_on_over_the_next(bool toClient)
    {
        var engine = new MemoryEngine();
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions(),
            () => new(engine.Connect()),
            "a"
        );
        await cluster.CreateAsync("orders", partitions: 1);
        await cluster.CreateAsync("bills", partitions: 1);
        Topic topic = cluster["a"].Broker.GetTopic("orders");
        await using var proxy = new HoldingProxy(cluster["a"].DataPort);
        await using var client = new LightQClient(
            $"lightq://127.0.0.1:{proxy.Port}?control={cluster["a"].ControlPort}"
        );
        int lost = 0;
        client.ConnectionStateChanged += (_, change) =>
        {
            if (change.State == ConnectionState.Reconnecting)
                Interlocked.Increment(ref lost);
        };
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        int read = 0,
            shared = 0;
        Task[] reading =
        [
            ReadAsync(new ConsumeOptions { Start = StartPosition.Earliest }, () => Interlocked.Increment(ref read)),
            ReadAsync(
                new ConsumeOptions
                {
                    Start = StartPosition.Earliest,
                    Group = "billing",
                    SettleMode = SettleMode.Explicit,
                },
                () => Interlocked.Increment(ref shared)
            ),
        ];
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = "till" },
            Cancelled
        );
        await using Producer nameless = await client.CreateProducerAsync("bills", cancellationToken: Cancelled);
        await nameless.PublishAsync("a"u8.ToArray(), cancellationToken: Cancelled);
        await producer.PublishAsync("a"u8.ToArray(), cancellationToken: Cancelled);
        await GotAsync(1);

        // The client finds the broker at its own address, too, which leads past the cut.
        Subscription[] before = [.. topic.Partitions[0].Subscriptions];
        proxy.CutOneWay(toClient);
        Task<PublishAck> publishing = producer.PublishAsync("b"u8.ToArray(), cancellationToken: Cancelled).AsTask();
        Task<PublishAck> unknown = nameless.PublishAsync("b"u8.ToArray(), cancellationToken: Cancelled).AsTask();
        await Eventually.TrueAsync(() => Volatile.Read(ref lost) != 0, Patience, () => "The client does not notice.");
        await Eventually.TrueAsync(
            () => !topic.Partitions[0].Subscriptions.Intersect(before).Any(),
            Patience,
            () => "The broker does not notice."
        );
        await publishing.WaitAsync(Patience, Cancelled);
        // Nobody can say whether what a producer without a name had under way is stored.
        LightQException doubt = await Assert.ThrowsAsync<LightQException>(() => unknown.WaitAsync(Patience, Cancelled));
        Assert.Equal(ErrorCode.OutcomeUnknown, doubt.Code);
        await nameless
            .PublishAsync("c"u8.ToArray(), cancellationToken: Cancelled)
            .AsTask()
            .WaitAsync(Patience, Cancelled);
        await GotAsync(2);
        await stop.CancelAsync();
        await Task.WhenAll(reading);

        Task GotAsync(int count) =>
            Eventually.TrueAsync(
                () => Volatile.Read(ref read) == count && Volatile.Read(ref shared) == count,
                Patience,
                () => $"The reader has {read}, the group {shared}."
            );

        async Task ReadAsync(ConsumeOptions options, Action got)
        {
            try
            {
                await foreach (Message message in client.ConsumeAsync("orders", options, stop.Token))
                {
                    if (options.Group is not null)
                        await message.CompleteAsync(stop.Token);
                    got();
                }
            }
            catch (OperationCanceledException)
            {
                // It has all.
            }
        }
    }
}
