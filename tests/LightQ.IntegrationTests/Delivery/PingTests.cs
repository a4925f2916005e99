using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

public sealed class PingTests
{
    [Fact]
    public async Task A_round_trip_takes_time_and_many_can_be_under_way()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);

        TimeSpan[] trips = await Task.WhenAll(
            Enumerable.Range(0, 100).Select(_ => client.PingAsync(TestContext.Current.CancellationToken))
        );

        Assert.All(trips, trip => Assert.True(trip > TimeSpan.Zero));
    }

    [Fact]
    public async Task Without_a_broker_there_is_no_answer()
    {
        await using var client = new LightQClient("lightq://127.0.0.1:1?control=1");
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.PingAsync(TestContext.Current.CancellationToken)
        );
        Assert.Equal(ErrorCode.Unavailable, refused.Code);
    }
}
