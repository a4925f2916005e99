using System.Globalization;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Docs;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// What <c>/metrics</c> and <c>group show</c> say of groups: the same, and the truth also while nobody is there.
/// </summary>
public sealed class GroupMetricsTests
{
    private const string Password = "correct horse battery staple";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private static readonly ConsumeOptions Worker = new()
    {
        Group = "workers",
        SettleMode = SettleMode.Explicit,
        MaxInFlight = 1,
    };

    private readonly ManualTime _time = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(SettleMode.Explicit)]
    [InlineData(SettleMode.Automatic)]
    public async Task A_group_without_members_lags_all_that_came_since_also_after_a_restart(SettleMode mode)
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using (LightQClient client = await WithJobsAsync(server, 1))
        {
            await using (
                IAsyncEnumerator<Message> jobs = client
                    .ConsumeAsync("jobs", new ConsumeOptions { Group = "workers", SettleMode = mode }, Cancelled)
                    .GetAsyncEnumerator(Cancelled)
            )
            {
                Assert.True(await jobs.MoveNextAsync());
                if (mode == SettleMode.Explicit)
                    Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
            }
            await EventuallyAsync(server, "lightq_group_members", 0);
            await EventuallyAsync(server, "lightq_group_lag_messages", 0);
            Assert.Equal(0, await ValueAsync(server, "lightq_group_oldest_unsettled_seconds"));

            await PublishAsync(client, 500);
            _time.Advance(TimeSpan.FromSeconds(90));

            Assert.Equal(500, await ValueAsync(server, "lightq_group_lag_messages"));
            Assert.Equal(90, await ValueAsync(server, "lightq_group_oldest_unsettled_seconds"));
            Assert.Contains(
                "lightq_topic_lag_messages{topic=\"jobs\"} 0\n",
                await PageAsync(server),
                StringComparison.Ordinal
            ); // Nobody is connected.
            GroupInfo shown = await client.Groups.GetAsync("jobs", "workers", Cancelled);
            Assert.Equal(
                (500, 0, 0, TimeSpan.FromSeconds(90)),
                (shown.Lag, shown.ClientsCount, shown.MembersCount, shown.OldestUnsettledAge)
            );
            TopicStats stats = await client.Stats.GetTopicAsync("jobs", Cancelled);
            Assert.Equal(
                (1, "workers", 500, 0),
                (stats.GroupsCount, stats.WorstGroup, stats.WorstGroupLag, stats.QueueSize)
            );
        }
        await server.RestartAsync();
        _time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal(500, await ValueAsync(server, "lightq_group_lag_messages"));
        Assert.Equal(100, await ValueAsync(server, "lightq_group_oldest_unsettled_seconds"));
        await using var again = new LightQClient(server.ConnectionString);
        await again.Topics.TruncateAsync("jobs", 101, cancellationToken: Cancelled);
        Assert.Equal(400, await ValueAsync(server, "lightq_group_lag_messages")); // What is gone waits for nobody.
    }

    [Fact]
    public async Task What_a_member_holds_gets_again_and_gives_up_is_counted_as_group_show_counts_it()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await WithJobsAsync(server, 3);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync("jobs", Worker, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal(
            (1, 1, 1, 0),
            (
                await ValueAsync(server, "lightq_group_in_flight_messages"),
                await ValueAsync(server, "lightq_group_members"),
                await ValueAsync(server, "lightq_group_delivered_total"),
                await ValueAsync(server, "lightq_group_redelivered_total")
            )
        );

        Assert.Equal(SettleOutcome.Done, await jobs.Current.AbandonAsync(cancellationToken: Cancelled));
        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal((0L, 2), (jobs.Current.Offset, jobs.Current.DeliveryCount));
        // For the last time.
        Assert.Equal(SettleOutcome.Done, await jobs.Current.AbandonAsync(cancellationToken: Cancelled));
        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal(1, jobs.Current.Offset);

        await EventuallyAsync(server, "lightq_group_dead_lettered_total", 1);
        Assert.Equal(
            (3, 1, 2),
            (
                await ValueAsync(server, "lightq_group_delivered_total"),
                await ValueAsync(server, "lightq_group_redelivered_total"),
                await ValueAsync(server, "lightq_group_lag_messages")
            )
        );
        Assert.Contains(
            "lightq_topic_dead_letters{topic=\"jobs\"} 1\n",
            await PageAsync(server),
            StringComparison.Ordinal
        );
        GroupInfo shown = await client.Groups.GetAsync("jobs", "workers", Cancelled);
        Assert.Equal(
            (3L, 1L, 1L, 1L, 2L),
            (shown.Delivered, shown.Redelivered, shown.DeadLettered, shown.InFlight, shown.Lag)
        );
        Assert.Equal(1, (await client.Stats.GetTopicAsync("jobs", Cancelled)).DeadLetters);

        Assert.Equal(0, await ValueAsync(server, "lightq_group_paused"));
        await client.Groups.PauseAsync("jobs", "workers", Cancelled);
        Assert.Equal(1, await ValueAsync(server, "lightq_group_paused"));
    }

    [Fact]
    public async Task Messages_that_are_not_due_or_have_expired_do_not_count_as_the_oldest()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using LightQClient client = await WithJobsAsync(server, 1, _time);
        await using (
            IAsyncEnumerator<Message> jobs = client
                .ConsumeAsync("jobs", Worker, Cancelled)
                .GetAsyncEnumerator(Cancelled)
        )
        {
            Assert.True(await jobs.MoveNextAsync());
            Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
        }
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await producer.PublishAsync(
            "later"u8.ToArray(),
            new PublishOptions { Delay = TimeSpan.FromHours(1) },
            cancellationToken: Cancelled
        );
        await producer.PublishAsync(
            "soon over"u8.ToArray(),
            new PublishOptions { TimeToLive = TimeSpan.FromSeconds(15) },
            cancellationToken: Cancelled
        );
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(10, await ValueAsync(server, "lightq_group_oldest_unsettled_seconds"));
        Assert.Contains(
            "lightq_topic_delayed_messages{topic=\"jobs\"} 1\n",
            await PageAsync(server),
            StringComparison.Ordinal
        );

        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(0, await ValueAsync(server, "lightq_group_oldest_unsettled_seconds"));
        await producer.PublishAsync("now"u8.ToArray(), cancellationToken: Cancelled);
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(5, await ValueAsync(server, "lightq_group_oldest_unsettled_seconds"));
    }

    [Fact]
    public async Task Groups_beyond_the_limit_are_left_out_counted_and_logged_once_an_hour()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = _time,
                Http = new() { MaxMetricsGroups = 2 },
            }
        );
        await using LightQClient client = await WithJobsAsync(server, 1);
        foreach (char group in "acb")
        {
            await using IAsyncEnumerator<Message> jobs = client
                .ConsumeAsync("jobs", Worker with { Group = $"{group}" }, Cancelled)
                .GetAsyncEnumerator(Cancelled);
            Assert.True(await jobs.MoveNextAsync());
        }
        string page = "";
        for (int i = 0; i < 3; i++)
            page = await PageAsync(server);

        Assert.All(
            "ab",
            g =>
                Assert.Contains(
                    $"lightq_group_lag_messages{{topic=\"jobs\",group=\"{g}\"}} 1\n",
                    page,
                    StringComparison.Ordinal
                )
        );
        Assert.DoesNotContain("group=\"c\"", page, StringComparison.Ordinal);
        Assert.Contains("lightq_groups 3\n", page, StringComparison.Ordinal);
        Assert.Contains("lightq_groups_left_out 1\n", page, StringComparison.Ordinal);
        Assert.Contains(
            "lightq_limit_refusals_total{limit=\"Http:MaxMetricsGroups\"} 3\n",
            page,
            StringComparison.Ordinal
        );
        const string Line =
            "/metrics does not show all of the 3 groups but the first 2 by topic and name; Http:MaxMetricsGroups is "
            + "the limit";
        Assert.Equal(
            (LogLevel.Warning, Line),
            Assert.Single(server.Log.Lines, l => l.Message.Contains("MaxMetricsGroups", StringComparison.Ordinal))
                is var line
                ? (line.Level, line.Message)
                : default
        );
        _time.Advance(TimeSpan.FromHours(1));
        await PageAsync(server);
        Assert.Equal(2, server.Log.Lines.Count(l => l.Message == Line));

        server.Server.Limits.Options = server.Server.Limits.Options with { Http = new() { MaxMetricsGroups = 3 } };
        Assert.Contains("lightq_groups_left_out 0\n", await PageAsync(server), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_counts_once_however_many_partitions_it_reads_and_is_named_to_who_may_manage_the_topic()
    {
        await using TestServer server = await TestServer.StartAsync();
        string admin = server.ConnectionString.Replace(
            "lightq://",
            $"lightq://admin:{server.AdminPassword}@",
            StringComparison.Ordinal
        );
        await using var client = new LightQClient(LightQClientOptions.Parse(admin) with { ClientName = "billing 7" });
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable, Partitions = 4 }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await producer.PublishAsync("x"u8.ToArray(), cancellationToken: Cancelled);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync("jobs", Worker, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await jobs.MoveNextAsync());

        GroupInfo group = await client.Groups.GetAsync("jobs", "workers", Cancelled);
        ConnectionInfo connection = (await client.Stats.ListConnectionsAsync(Cancelled)).Single(c =>
            c.SubscribersCount == 4
        );
        GroupClientInfo named = Assert.Single(group.Clients);
        Assert.Equal((1, 4), (group.ClientsCount, group.MembersCount));
        Assert.Equal(
            ("billing 7", connection.RemoteAddress, connection.Id, 4, 1L),
            (named.ClientName, named.RemoteAddress, named.ConnectionId, named.MembersCount, named.InFlight)
        );
        Assert.Equal([0, 1, 2, 3], named.Partitions);
        Assert.Equal(1, Assert.Single(await client.Groups.ListAsync("jobs", Cancelled)).ClientsCount);

        await client.Users.CreateAsync("alice", Password, Cancelled);
        await client.Users.GrantAsync("alice", UserRight.Consume, "jobs", Cancelled);
        await client.Topics.CreateAsync(new TopicSpec("jobs.dead") { Kind = TopicKind.Durable }, Cancelled);
        await using var alice = new LightQClient(
            server.ConnectionString.Replace(
                "lightq://",
                $"lightq://alice:{Uri.EscapeDataString(Password)}@",
                StringComparison.Ordinal
            )
        );
        GroupClientInfo unnamed = Assert.Single((await alice.Groups.GetAsync("jobs", "workers", Cancelled)).Clients);
        Assert.Equal(("", "", named.ConnectionId), (unnamed.ClientName, unnamed.RemoteAddress, unnamed.ConnectionId));
        TopicStats seen = Assert.Single(await alice.Stats.ListTopicsAsync(Cancelled).ToListAsync(Cancelled));
        Assert.Equal(("jobs", null), (seen.Topic, seen.DeadLetters)); // She may not see the topic that they are in.
        Assert.Equal(
            ["jobs", "jobs.dead"],
            await client.Stats.ListTopicsAsync(Cancelled).Select(s => s.Topic).ToListAsync(Cancelled)
        );
    }

    [Fact]
    public async Task Every_metric_of_groups_is_in_the_table_of_the_operations_page()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await WithJobsAsync(server, 1);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync("jobs", new ConsumeOptions { Group = "workers" }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await jobs.MoveNextAsync());
        string[] families =
        [
            .. (await PageAsync(server))
                .Split('\n')
                .Where(l => l.StartsWith("# TYPE lightq_group", StringComparison.Ordinal))
                .Select(l => l.Split(' ')[2]),
        ];
        string text = Document.Read("docs/operate/operations.md").Text;
        Assert.Equal(10, families.Length);
        Assert.All(
            families.Where(f => f.StartsWith("lightq_group_", StringComparison.Ordinal)),
            f => Assert.Contains($"| `{f}` |", text, StringComparison.Ordinal)
        );
    }

    private static async Task<LightQClient> WithJobsAsync(TestServer server, int jobs, TimeProvider? time = null)
    {
        var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                TimeProvider = time ?? TimeProvider.System,
            }
        );
        await client.Topics.CreateAsync(
            new TopicSpec("jobs")
            {
                Kind = TopicKind.Durable,
                RetryDelay = TimeSpan.Zero,
                MaxDeliveries = 2,
            },
            Cancelled
        );
        await PublishAsync(client, jobs);
        return client;
    }

    private static async Task PublishAsync(LightQClient client, int jobs)
    {
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await Task.WhenAll(
            Enumerable
                .Range(0, jobs)
                .Select(i => producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: Cancelled).AsTask())
        );
    }

    private static Task<string> PageAsync(TestServer server) => server.Web.GetStringAsync("/metrics", Cancelled);

    /// <summary>What a family has of the group.</summary>
    private static async Task<double> ValueAsync(TestServer server, string family)
    {
        string start = $"{family}{{topic=\"jobs\",group=\"workers\"}} ";
        string line = Assert.Single(
            (await PageAsync(server)).Split('\n'),
            l => l.StartsWith(start, StringComparison.Ordinal)
        );
        return double.Parse(line[start.Length..], CultureInfo.InvariantCulture);
    }

    private static Task EventuallyAsync(TestServer server, string family, double value) =>
        Eventually.TrueAsync(
            async () => await ValueAsync(server, family) == value,
            Patience,
            () => $"{family} does not become {value}"
        );
}
