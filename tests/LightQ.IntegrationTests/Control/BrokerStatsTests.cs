using System.Globalization;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Security;
using LightQ.Protocol.Control;
using Xunit;
using Grant = LightQ.Broker.Users.Grant;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Protocol.Control.TopicKind;

namespace LightQ.IntegrationTests.Control;

/// <summary>The figures of the broker as a whole, which it sends again and again to clients that watch them.</summary>
public sealed class BrokerStatsTests
{
    private static readonly Duration Half = Duration.FromTimeSpan(TimeSpan.FromMilliseconds(500));
    private static readonly TimeSpan Tick = TimeSpan.FromMicroseconds(1);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_watch_sends_the_broker_and_the_named_topics_at_once_and_one_interval_later()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string topic in (string[])["orders", "bills", "others"])
            await TopicsTests.CreateAsync(server, topic);
        await using IAsyncEnumerator<WatchBrokerStatsResponse> watch = Watch(
            server,
            new() { Interval = Half, Topics = { "orders", "none", "bills", "orders" } }
        );
        WatchBrokerStatsResponse first = await NextAsync(watch);
        Assert.Equal(3u, first.Broker.TopicsCount);
        Assert.Equal(["bills", "orders"], first.Topics.Select(t => t.Topic));
        await PublishAsync(server, "orders");

        WatchBrokerStatsResponse second = await NextAsync(watch);
        while (second.Broker.MessagesReceived == 0)
            second = await NextAsync(watch);
        Assert.Equal((1ul, 1ul), (second.Broker.MessagesReceived, second.Topics[1].MessagesReceived));
        Assert.True(second.Broker.Time.ToDateTime() > first.Broker.Time.ToDateTime());
    }

    [Fact]
    public async Task Without_topics_and_interval_it_sends_the_broker_alone()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        foreach (Duration? interval in (Duration?[])[null, new Duration()])
        {
            await using IAsyncEnumerator<WatchBrokerStatsResponse> watch = Watch(server, new() { Interval = interval });
            WatchBrokerStatsResponse response = await NextAsync(watch);
            Assert.Equal(1u, response.Broker.TopicsCount);
            Assert.Empty(response.Topics);
        }
    }

    [Fact]
    public async Task Its_figures_are_those_of_the_metrics_and_of_health()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders", new TopicSettings { Kind = TopicKind.Durable });
        await TopicsTests.CreateAsync(server, "ticks", new TopicSettings { Kind = TopicKind.Transient });
        for (int i = 0; i < 5; i++)
            await PublishAsync(server, "orders");
        await PublishAsync(server, "ticks");
        GetBrokerStatsResponse stats;
        Dictionary<string, double> metrics;
        // The broker may sync once more on its own between the two readings.
        do
        {
            stats = await server.Control.CallAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>(
                "GetBrokerStats",
                new()
            );
            metrics = Read(await server.Web.GetStringAsync("/metrics", Cancel));
        } while (stats.Syncs != metrics["lightq_syncs_total"]);

        Assert.True(stats.Syncs > 0);
        Assert.Equal(metrics["lightq_sync_time_seconds_total"], stats.SyncTime.ToTimeSpan().TotalSeconds, 6);
        Assert.Equal(metrics["lightq_topics"], stats.TopicsCount);
        Assert.Equal(metrics["lightq_connections"], stats.ConnectionsCount);
        Assert.Equal(6ul, stats.MessagesReceived);
        Assert.Equal(Sum("lightq_topic_messages_received_total"), stats.MessagesReceived);
        Assert.Equal(Sum("lightq_topic_received_bytes_total"), stats.TotalBytesWritten);
        Assert.Equal(metrics["lightq_topic_stored_bytes{topic=\"orders\"}"], stats.DiskUsedBytes);
        // Others use the disk and the memory of this machine meanwhile.
        Assert.InRange(stats.DiskFreeBytes / metrics["lightq_disk_free_bytes"], 0.8, 1.25);
        Assert.InRange(stats.ResidentBytes / metrics["process_resident_memory_bytes"], 0.5, 2);
        string health = await server.Web.GetStringAsync("/healthz/ready", Cancel);
        Assert.Equal(health, stats.Health + "\n");
        TimeSpan median = stats.SyncTimeP50.ToTimeSpan(),
            longest = stats.SyncTimeP99.ToTimeSpan();
        Assert.InRange(median, TimeSpan.FromMicroseconds(1), longest);
        Assert.True(longest <= stats.SyncTime.ToTimeSpan() * 1.07 + TimeSpan.FromMicroseconds(1));

        double Sum(string name) =>
            metrics.Where(m => m.Key.StartsWith(name + "{", StringComparison.Ordinal)).Sum(m => m.Value);
    }

    [Fact]
    public async Task The_times_of_syncs_are_of_those_since_the_reading_before()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders", new TopicSettings { Kind = TopicKind.Durable });
        await PublishAsync(server, "orders");
        await using IAsyncEnumerator<WatchBrokerStatsResponse> watch = Watch(server, new() { Interval = Half });
        GetBrokerStatsResponse before = (await NextAsync(watch)).Broker;
        Assert.NotNull(before.SyncTimeP50);
        for (int rest = 0; rest == 0; )
        {
            GetBrokerStatsResponse now = (await NextAsync(watch)).Broker;
            if (now.Syncs == before.Syncs)
                rest++;
            Assert.Equal(now.Syncs == before.Syncs, now.SyncTimeP50 is null);
            before = now;
        }
        await PublishAsync(server, "orders");
        while (true)
        {
            GetBrokerStatsResponse now = (await NextAsync(watch)).Broker;
            if (now.Syncs == before.Syncs)
                continue;
            Assert.True(now.SyncTimeP99.ToTimeSpan() <= (now.SyncTime - before.SyncTime).ToTimeSpan() * 1.07 + Tick);
            break;
        }
    }

    [Theory]
    [InlineData(0, 499)]
    [InlineData(3600, 1)]
    [InlineData(-1, 0)]
    public async Task An_interval_outside_its_limits_is_refused(int seconds, int milliseconds)
    {
        await using TestServer server = await TestServer.StartAsync();
        var interval = Duration.FromTimeSpan(new TimeSpan(0, 0, 0, seconds, milliseconds));
        RpcException error = await ControlCalls.FailsAsync(
            async () => await NextAsync(Watch(server, new() { Interval = interval })),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
        Assert.StartsWith("interval is ", error.Status.Detail, StringComparison.Ordinal);
        Assert.Contains("500 ms to 1 h", error.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task More_names_than_allowed_are_refused()
    {
        await using TestServer server = await TestServer.StartAsync();
        string[] names = [.. Enumerable.Range(0, 1001).Select(i => $"t{i}")];
        await RefusedAsync(async () => await NextAsync(Watch(server, new() { Topics = { names } })));
        await RefusedAsync(() =>
            server.Control.CallAsync<ListTopicStatsRequest, ListTopicStatsResponse>(
                "ListTopicStats",
                new() { Topics = { names } }
            )
        );

        static async Task RefusedAsync(Func<Task> call)
        {
            RpcException error = await ControlCalls.FailsAsync(call, StatusCode.InvalidArgument, "InvalidArgument");
            Assert.Contains("1001 names; allowed: 1000", error.Status.Detail, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_list_of_named_topics_has_those_that_there_are_a_page_at_a_time()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string topic in (string[])["a", "b", "c", "d"])
            await TopicsTests.CreateAsync(server, topic);
        var request = new ListTopicStatsRequest { Topics = { "d", "none", "b", "a" }, PageSize = 2 };
        ListTopicStatsResponse first = await server.Control.CallAsync<ListTopicStatsRequest, ListTopicStatsResponse>(
            "ListTopicStats",
            request
        );
        Assert.Equal(["a", "b"], first.Stats.Select(s => s.Topic));
        request.PageToken = first.NextPageToken;
        ListTopicStatsResponse second = await server.Control.CallAsync<ListTopicStatsRequest, ListTopicStatsResponse>(
            "ListTopicStats",
            request
        );
        Assert.Equal(["d"], second.Stats.Select(s => s.Topic));
        Assert.Equal("", second.NextPageToken);
    }

    [Theory]
    [InlineData("token revoked")]
    [InlineData("user deleted")]
    public async Task It_ends_with_the_login_that_it_was_opened_with(string how)
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        Caller caller = Caller.Create(server, "alice", (Right.Consume, "orders"));
        await using IAsyncEnumerator<WatchBrokerStatsResponse> watch = Watch(
            server,
            new() { Interval = Duration.FromTimeSpan(TimeSpan.FromHours(1)) },
            caller.Token
        );
        await NextAsync(watch);
        if (how == "user deleted")
            server.Broker.Users.Delete("alice");
        else
            server.Broker.Users.RevokeToken(server.Broker.Users.Table.Tokens.Values.Single().Id);
        await ControlCalls.FailsAsync(() => NextAsync(watch), StatusCode.Unauthenticated, "Unauthenticated");
    }

    [Fact]
    public async Task It_tells_of_no_topic_that_the_caller_has_no_right_on_any_more()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync("orders");
        await server.CreateTopicAsync("secrets");
        Caller caller = Caller.Create(server, "alice", (Right.Consume, "orders"));
        await using IAsyncEnumerator<WatchBrokerStatsResponse> watch = Watch(
            server,
            new() { Interval = Half, Topics = { "orders", "secrets" } },
            caller.Token
        );
        WatchBrokerStatsResponse response = await NextAsync(watch);
        Assert.Equal((1u, "orders"), (response.Broker.TopicsCount, Assert.Single(response.Topics).Topic));
        server.Broker.Users.Revoke("alice", Grant.Create(Right.Consume, "orders"));
        do response = await NextAsync(watch);
        while (response.Topics.Count != 0);
        Assert.Equal(0u, response.Broker.TopicsCount);
    }

    [Fact]
    public async Task A_stop_ends_it_with_UNAVAILABLE()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using IAsyncEnumerator<WatchBrokerStatsResponse> watch = Watch(
            server,
            new() { Interval = Duration.FromTimeSpan(TimeSpan.FromHours(1)) }
        );
        await NextAsync(watch);
        Task<WatchBrokerStatsResponse> next = NextAsync(watch);
        Task stopped = server.Server.StopAsync();
        RpcException error = await Assert.ThrowsAsync<RpcException>(() => next);
        Assert.Equal(StatusCode.Unavailable, error.StatusCode);
        await stopped;
    }

    [Fact]
    public async Task The_client_watches_the_broker()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders", new TopicSettings { Kind = TopicKind.Durable });
        await PublishAsync(server, "orders");
        await using var client = new LightQClient(server.ConnectionString);
        int readings = 0;
        await foreach (BrokerStats stats in client.Stats.WatchBrokerAsync(TimeSpan.FromMilliseconds(500), Cancel))
        {
            Assert.Equal((1, 1L), (stats.TopicsCount, stats.MessagesReceived));
            Assert.Equal("ready", stats.Health);
            Assert.True(stats is { Syncs: > 0, DiskFreeBytes: > 0, DiskUsedBytes: > 0 });
            Assert.True(stats.SyncTime > TimeSpan.Zero);
            if (readings == 0)
                Assert.True(stats.SyncTimeP99 >= stats.SyncTimeP50);
            if (++readings == 2)
                break;
        }
        BrokerStats now = await client.Stats.GetBrokerAsync(Cancel);
        Assert.True(now.SyncTimeP50 > TimeSpan.Zero);
    }

    private static IAsyncEnumerator<WatchBrokerStatsResponse> Watch(
        TestServer server,
        WatchBrokerStatsRequest request,
        string? token = null
    ) =>
        server
            .Control.StreamAsync<WatchBrokerStatsRequest, WatchBrokerStatsResponse>(
                "WatchBrokerStats",
                request,
                token,
                Cancel
            )
            .GetAsyncEnumerator(Cancel);

    private static async Task<WatchBrokerStatsResponse> NextAsync(IAsyncEnumerator<WatchBrokerStatsResponse> watch)
    {
        Assert.True(await watch.MoveNextAsync());
        return watch.Current;
    }

    private static Task<PublishResponse> PublishAsync(TestServer server, string topic) =>
        server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new()
            {
                Topic = topic,
                Messages = { new PublishedMessage { Body = Google.Protobuf.ByteString.CopyFromUtf8("m") } },
            }
        );

    private static Dictionary<string, double> Read(string metrics) =>
        metrics
            .Split('\n')
            .Where(l => l.Length != 0 && l[0] != '#')
            .ToDictionary(
                l => l[..l.LastIndexOf(' ')],
                l => double.Parse(l[(l.LastIndexOf(' ') + 1)..], CultureInfo.InvariantCulture)
            );
}
