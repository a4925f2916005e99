using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Control;

public sealed class StatsTests
{
    [Fact]
    public async Task A_watched_topic_sends_one_reading_at_once_and_one_an_interval()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        var readings = new List<TopicStats>();
        await foreach (WatchTopicStatsResponse response in Watch(server, "orders", TimeSpan.FromMilliseconds(100)))
        {
            readings.Add(response.Stats);
            if (readings.Count == 4)
                break;
        }
        Assert.All(readings, r => Assert.Equal("orders", r.Topic));
        Assert.Equal(readings.OrderBy(r => r.Time.ToDateTime()), readings);
        Assert.True(readings[3].Time.ToDateTime() - readings[0].Time.ToDateTime() >= TimeSpan.FromMilliseconds(200));
    }

    [Fact]
    public async Task Watching_ends_with_NOT_FOUND_as_soon_as_the_topic_is_deleted()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        int readings = 0;
        await ControlCalls.FailsAsync(
            async () =>
            {
                // An hour between readings: the end must not wait for the next.
                await foreach (WatchTopicStatsResponse _ in Watch(server, "orders", TimeSpan.FromHours(1)))
                {
                    readings++;
                    await server.Control.CallAsync<DeleteTopicRequest, DeleteTopicResponse>(
                        "DeleteTopic",
                        new() { Name = "orders" }
                    );
                }
            },
            StatusCode.NotFound,
            "TopicDeleted"
        );
        Assert.Equal(1, readings);
    }

    [Theory]
    [InlineData(0, 99)]
    [InlineData(3601, 0)]
    [InlineData(-1, 0)]
    public async Task An_interval_outside_its_limits_is_refused(int seconds, int milliseconds)
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        RpcException error = await ControlCalls.FailsAsync(
            async () =>
                await Watch(server, "orders", new TimeSpan(0, 0, 0, seconds, milliseconds))
                    .GetAsyncEnumerator(TestContext.Current.CancellationToken)
                    .MoveNextAsync(),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
        Assert.Contains("100 ms to 1 h", error.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task No_interval_and_a_zero_one_mean_the_default()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        foreach (Duration? interval in new[] { null, new Duration() })
        {
            await using IAsyncEnumerator<WatchTopicStatsResponse> watch = server
                .Control.StreamAsync<WatchTopicStatsRequest, WatchTopicStatsResponse>(
                    "WatchTopicStats",
                    new() { Topic = "orders", Interval = interval },
                    cancellationToken: TestContext.Current.CancellationToken
                )
                .GetAsyncEnumerator(TestContext.Current.CancellationToken);
            Assert.True(await watch.MoveNextAsync());
        }
    }

    [Fact]
    public async Task A_stop_ends_a_watch_with_UNAVAILABLE()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        await using IAsyncEnumerator<WatchTopicStatsResponse> watch = Watch(server, "orders", TimeSpan.FromHours(1))
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.True(await watch.MoveNextAsync());
        Task<bool> next = watch.MoveNextAsync().AsTask();
        Task stopped = server.Server.StopAsync();
        RpcException error = await Assert.ThrowsAsync<RpcException>(() => next);
        Assert.Equal(StatusCode.Unavailable, error.StatusCode);
        await stopped;
    }

    [Fact]
    public async Task The_broker_tells_its_id_version_and_data_port()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        GetBrokerStatsResponse stats = await server.Control.CallAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>(
            "GetBrokerStats",
            new()
        );
        Assert.Equal(server.Broker.Id.ToString("N"), stats.BrokerId);
        Assert.Equal((uint)server.DataPort, stats.DataPort);
        Assert.Equal(1u, stats.TopicsCount);
        Assert.NotEmpty(stats.Version);
        Assert.True(stats.ResidentBytes > 1 << 20);
    }

    [Fact]
    public async Task Statistics_of_an_unknown_topic_are_NOT_FOUND()
    {
        await using TestServer server = await TestServer.StartAsync();
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<GetTopicStatsRequest, GetTopicStatsResponse>(
                    "GetTopicStats",
                    new() { Topic = "none" }
                ),
            StatusCode.NotFound,
            "UnknownTopic"
        );
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<ListSubscriptionsRequest, ListSubscriptionsResponse>(
                    "ListSubscriptions",
                    new() { Topic = "none" }
                ),
            StatusCode.NotFound,
            "UnknownTopic"
        );
    }

    private static IAsyncEnumerable<WatchTopicStatsResponse> Watch(
        TestServer server,
        string topic,
        TimeSpan interval
    ) =>
        server.Control.StreamAsync<WatchTopicStatsRequest, WatchTopicStatsResponse>(
            "WatchTopicStats",
            new() { Topic = topic, Interval = Duration.FromTimeSpan(interval) }
        );
}
