using LightQ.Broker.Cluster;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>A client that was given one address of a cluster finds the others, and goes on without that one.</summary>
public sealed class OneAddressTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_broker_of_that_address_may_stop_and_everything_goes_on_at_the_others()
    {
        var engine = new MemoryEngine();
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions(),
            () => new(engine.Connect()),
            "a",
            "b",
            "c"
        );
        await cluster.CreateAsync("orders", partitions: 3);
        await using LightQClient client = cluster.ConnectTo("a");
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = "till" },
            Cancelled
        );
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        int read = 0;
        Task reading = ReadAsync();
        int published = 0;
        await PublishAsync(10);
        await Eventually.TrueAsync(() => client.KnownBrokers == 3, Patience, () => $"It knows {client.KnownBrokers}.");

        await cluster.StopAsync("a");
        await PublishAsync(30);
        await Eventually.TrueAsync(() => Volatile.Read(ref read) == published, Patience, () => $"{read} were read.");
        Assert.Equal(ConnectionState.Connected, client.State);
        // And so do calls of the control plane.
        Assert.Equal("orders", (await client.Topics.GetAsync("orders", Cancelled)).Spec.Name);
        await stop.CancelAsync();
        await reading;

        async Task PublishAsync(int count)
        {
            for (int i = 0; i < count; i++, published++)
                await producer.PublishAsync("m"u8.ToArray(), cancellationToken: Cancelled);
        }

        async Task ReadAsync()
        {
            try
            {
                await foreach (
                    Message _ in client.ConsumeAsync(
                        "orders",
                        new ConsumeOptions { Start = StartPosition.Earliest },
                        stop.Token
                    )
                )
                {
                    Interlocked.Increment(ref read);
                }
            }
            catch (OperationCanceledException)
            {
                // It has all.
            }
        }
    }
}
