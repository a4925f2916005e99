using LightQ.ClusterTests.Nats;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>What a partition remembers, when another broker takes over, on three nats-servers.</summary>
[Collection(NatsTests.Name)]
public sealed class JetStreamFailoverTests(NatsFixture nats)
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Settlements_out_of_order_and_a_pause_are_in_force_on_another_node()
    {
        await using JetStreamEngine one = await nats.ConnectAsync(),
            other = await nats.ConnectAsync();
        await using FailoverHost host = await FailoverHost.StartAsync([one, other]);
        await host.PublishAsync(first: 0, count: 10);
        await host.WorkAsync("billing", 10, number => number % 2 == 0);
        await host.WorkAsync("mail", 10, _ => true);
        await host.StoreAsync();
        await host.Client.Groups.PauseAsync("orders", "mail", Cancelled);
        await host.HandOverAsync();
        Assert.True(host.Broker.Groups.Find(host.Topic, "mail").Single().IsPaused);
        Assert.Equal(
            [1, 3, 5, 7, 9],
            (await host.WorkAsync("billing", 5, _ => true)).Select(message => message.Number)
        );
        await host.PublishAsync(first: 10, count: 1);
        Assert.Equal([(10, 1)], await host.WorkAsync("billing", 1, _ => true));
    }
}
