using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using Xunit;
using GroupHold = LightQ.Protocol.Control.GroupHold;
using GroupReason = LightQ.Protocol.Control.GroupReason;
using SettleKind = LightQ.Protocol.Control.SettleKind;
using SettleOutcome = LightQ.Protocol.Control.SettleOutcome;
using Topic = LightQ.Broker.Topics.Topic;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.Messages;

/// <summary>Members of groups that are Consume calls.</summary>
public sealed class WorkerTests
{
    [Fact]
    public async Task A_worker_completes_abandons_gives_up_and_renews()
    {
        await using TestServer server = await JobsAsync(4);
        using ConsumeStream worker = await ConsumeStream.OpenAsync(server, Worker(credit: 4));
        DeliveredMessage[] jobs = await worker.NextAsync(4);
        Assert.Equal([0, 1, 2, 3], jobs.Select(j => j.Offset));
        Assert.All(jobs, j => Assert.Equal(1u, j.DeliveryCount));
        Assert.All(
            jobs,
            j =>
                Assert.InRange(j.LockEndTime.ToDateTime(), DateTime.UtcNow.AddSeconds(1), DateTime.UtcNow.AddMinutes(2))
        );
        Settlement abandoned = ConsumeStream.Of(jobs[1], SettleKind.Abandon);
        abandoned.Delay = new Duration();
        Settlement dead = ConsumeStream.Of(jobs[2], SettleKind.DeadLetter);
        dead.Reason = "no such customer";
        Settlement unknown = ConsumeStream.Of(jobs[3], SettleKind.Complete);
        unknown.DeliveryId += 1000;

        Assert.Equal(
            [
                SettleOutcome.Done,
                SettleOutcome.Done,
                SettleOutcome.Done,
                SettleOutcome.Done,
                SettleOutcome.Unknown,
                SettleOutcome.Unknown,
            ],
            await worker.SettleAsync(
                ConsumeStream.Of(jobs[3], SettleKind.Renew),
                ConsumeStream.Of(jobs[0], SettleKind.Complete),
                abandoned,
                dead,
                ConsumeStream.Of(jobs[0], SettleKind.Complete),
                unknown
            )
        );

        await worker.GrantAsync(1);
        DeliveredMessage again = await worker.NextAsync();
        Assert.Equal((1L, 2u, "1"), (again.Offset, again.DeliveryCount, again.Body.ToStringUtf8()));
        // Without a tag nothing is answered but what did not hold.
        await worker.WriteAsync(
            new ConsumeRequest
            {
                Settle = new Settle { Settlements = { ConsumeStream.Of(again, SettleKind.Complete) } },
            }
        );
        await worker.WriteAsync(
            new ConsumeRequest
            {
                Settle = new Settle { Settlements = { ConsumeStream.Of(again, SettleKind.Complete) } },
            }
        );
        Assert.Equal([SettleOutcome.Unknown], (await worker.ReadAsync())!.Settled.Outcomes);

        await Eventually.TrueAsync(
            () =>
                server.Broker.TryGetTopic("jobs.dead", out Topic? topic) && topic.Partitions[0].Log.ReadableOffset == 1,
            TimeSpan.FromSeconds(30),
            () => "no dead letter"
        );
        using ConsumeStream letters = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "jobs.dead",
                Earliest = true,
                Credit = 1,
            }
        );
        DeliveredMessage letter = await letters.NextAsync();
        Assert.Equal("2", letter.Body.ToStringUtf8());
        Assert.Contains(
            letter.Headers,
            h => h.Name == "lightq-dead-reason" && h.Value.ToStringUtf8() == "no such customer"
        );
    }

    [Fact]
    public async Task The_reason_of_the_last_abandonment_is_the_dead_letters()
    {
        await using TestServer server = await TestServer.StartAsync();
        var topic = new CreateTopicRequest
        {
            Name = "jobs",
            Settings = new() { Kind = LightQ.Protocol.Control.TopicKind.Durable, MaxDeliveries = 1 },
        };
        await server.Control.CallAsync<CreateTopicRequest, CreateTopicResponse>("CreateTopic", topic);
        await PublishAsync(server, "jobs", 1);
        using ConsumeStream worker = await ConsumeStream.OpenAsync(server, Worker(credit: 1));
        Settlement abandoned = ConsumeStream.Of(await worker.NextAsync(), SettleKind.Abandon);
        abandoned.Reason = "no stock";
        Assert.Equal([SettleOutcome.Done], await worker.SettleAsync(abandoned));

        await Eventually.TrueAsync(
            () => server.Broker.TryGetTopic("jobs.dead", out Topic? dead) && dead.Partitions[0].Log.ReadableOffset == 1,
            TimeSpan.FromSeconds(30),
            () => "no dead letter"
        );
        using ConsumeStream letters = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "jobs.dead",
                Earliest = true,
                Credit = 1,
            }
        );
        DeliveredMessage letter = await letters.NextAsync();
        Assert.Contains(
            letter.Headers,
            h =>
                h.Name == "lightq-dead-reason"
                && h.Value.ToStringUtf8() == "delivered 1 times without being completed: no stock"
        );
    }

    [Fact]
    public async Task Credit_is_what_a_worker_holds_at_most_and_workers_share_one_batch()
    {
        await using TestServer server = await JobsAsync(600);
        using ConsumeStream first = await ConsumeStream.OpenAsync(server, Worker(credit: 1));
        using ConsumeStream second = await ConsumeStream.OpenAsync(server, Worker(credit: 1));
        var seen = new List<long>();
        for (int i = 0; i < 300; i++)
        {
            foreach (ConsumeStream worker in new[] { first, second })
            {
                DeliveredMessage job = await worker.NextAsync();
                Assert.Equal($"{job.Offset}", job.Body.ToStringUtf8());
                seen.Add(job.Offset);
                Group group = (
                    await server.Control.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                        "DescribeGroup",
                        new() { Topic = "jobs", Group = "workers" }
                    )
                ).Group;
                Assert.InRange(group.Partitions[0].InFlight, 1u, 2u);
                Assert.Equal(
                    [SettleOutcome.Done],
                    await worker.SettleAsync(ConsumeStream.Of(job, SettleKind.Complete))
                );
                await worker.GrantAsync(1);
            }
        }
        Assert.Equal(Enumerable.Range(0, 600).Select(i => (long)i), seen.Order());
    }

    [Fact]
    public async Task Max_in_flight_holds_back_what_there_is_credit_for()
    {
        await using TestServer server = await JobsAsync(3);
        Subscribe subscribe = Worker(credit: 100);
        subscribe.MaxInFlight = 1;
        using ConsumeStream worker = await ConsumeStream.OpenAsync(server, subscribe);
        for (int i = 0; i < 3; i++)
        {
            DeliveredMessage job = await worker.NextAsync();
            Assert.Equal(i, job.Offset);
            if (i == 0)
                Assert.Equal([GroupHold.InFlight], (await ExplainAsync(server)).Select(r => r.Hold));
            await worker.WriteAsync(
                new ConsumeRequest
                {
                    Settle = new Settle { Settlements = { ConsumeStream.Of(job, SettleKind.Complete) } },
                }
            );
        }
    }

    [Fact]
    public async Task A_lock_that_ran_out_gives_the_message_to_another()
    {
        await using TestServer server = await JobsAsync(1);
        Subscribe subscribe = Worker(credit: 1);
        subscribe.LockDuration = new Duration { Seconds = 1 };
        using ConsumeStream slow = await ConsumeStream.OpenAsync(server, subscribe);
        DeliveredMessage job = await slow.NextAsync();
        Assert.InRange(job.LockEndTime.ToDateTime(), DateTime.UtcNow.AddMinutes(-1), DateTime.UtcNow.AddSeconds(2));
        using ConsumeStream other = await ConsumeStream.OpenAsync(server, Worker(credit: 1));
        DeliveredMessage again = await other.NextAsync();
        Assert.Equal((0L, 2u), (again.Offset, again.DeliveryCount));
        Assert.Equal([SettleOutcome.LockExpired], await slow.SettleAsync(ConsumeStream.Of(job, SettleKind.Complete)));
    }

    [Fact]
    public async Task A_worker_without_credit_is_said_to_have_none()
    {
        await using TestServer server = await JobsAsync(3);
        using ConsumeStream worker = await ConsumeStream.OpenAsync(server, Worker(credit: 0));
        Assert.Contains(await ExplainAsync(server), r => r.Hold == GroupHold.NoCredit);
        await worker.GrantAsync(1);
        await worker.NextAsync();
        Assert.Contains(await ExplainAsync(server), r => r.Hold == GroupHold.NoCredit);
    }

    [Theory]
    [InlineData(true, 1u)]
    [InlineData(false, 2u)]
    public async Task What_a_worker_leaves_behind_goes_to_another_and_counts_only_after_a_broken_call(
        bool isOrderly,
        uint deliveries
    )
    {
        await using TestServer server = await JobsAsync(2);
        using ConsumeStream leaving = await ConsumeStream.OpenAsync(server, Worker(credit: 2));
        await leaving.NextAsync(2);
        if (isOrderly)
        {
            await leaving.EndAsync();
            Assert.Null(await leaving.ReadAsync());
        }
        else
        {
            leaving.Dispose();
        }
        using ConsumeStream staying = await ConsumeStream.OpenAsync(server, Worker(credit: 2));
        DeliveredMessage[] jobs = await staying.NextAsync(2);
        Assert.Equal([(0L, deliveries), (1L, deliveries)], jobs.Select(j => (j.Offset, j.DeliveryCount)));
    }

    [Fact]
    public async Task Of_many_jobs_only_the_one_that_kills_its_workers_is_dead_lettered()
    {
        const int Jobs = 300;
        await using TestServer server = await JobsAsync(Jobs);
        int deaths = 0;
        for (int done = 0; done < Jobs - 1; )
        {
            using ConsumeStream worker = await ConsumeStream.OpenAsync(server, Worker(credit: 100));
            while (done < Jobs - 1)
            {
                DeliveredMessage job = await worker.NextAsync();
                Assert.InRange(job.DeliveryCount, 1u, job.Offset == 0 ? (uint)deaths + 1 : 3);
                if (job.Offset == 0)
                    break;
                Settlement[] completed = [ConsumeStream.Of(job, SettleKind.Complete)];
                await worker.WriteAsync(new ConsumeRequest { Settle = new Settle { Settlements = { completed } } });
                await worker.GrantAsync(1);
                done++;
            }
            if (done == Jobs - 1)
                continue;
            Assert.InRange(++deaths, 1, 10);
            worker.Dispose();
            await Eventually.TrueAsync(
                async () => (await DescribeAsync(server)).MembersCount == 0,
                TimeSpan.FromSeconds(30),
                () => "a dead worker is a member"
            );
        }
        Assert.Equal(10, deaths);
        await Eventually.TrueAsync(
            () =>
                server.Broker.TryGetTopic("jobs.dead", out Topic? topic) && topic.Partitions[0].Log.ReadableOffset == 1,
            TimeSpan.FromSeconds(30),
            () => "not one dead letter"
        );
    }

    [Fact]
    public async Task A_worker_settles_what_it_holds_before_a_stop()
    {
        using var directory = new TemporaryDirectory();
        await using TestServer server = await JobsAsync(2, directory.Path);
        using ConsumeStream worker = await ConsumeStream.OpenAsync(server, Worker(credit: 1));
        DeliveredMessage job = await worker.NextAsync();
        Task stopped = server.Server.StopAsync(TimeSpan.FromSeconds(30));
        Assert.NotNull((await worker.ReadAsync())!.GoAway);
        await worker.GrantAsync(1); // Nothing more comes for it.
        Assert.Equal([SettleOutcome.Done], await worker.SettleAsync(ConsumeStream.Of(job, SettleKind.Complete)));
        await worker.EndAsync();
        await ControlCalls.FailsAsync(worker.ReadAsync, StatusCode.Unavailable, "ShuttingDown");
        await stopped;
        await server.RestartAsync();
        using ConsumeStream later = await ConsumeStream.OpenAsync(server, Worker(credit: 2));
        Assert.Equal(1, (await later.NextAsync()).Offset);
    }

    [Fact]
    public async Task Members_that_settle_automatically_lose_nothing_they_had_no_credit_for()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("ticks");
        var member = new Subscribe
        {
            Topic = "ticks",
            Group = "readers",
            Earliest = true,
        };
        using ConsumeStream first = await ConsumeStream.OpenAsync(server, member);
        await PublishAsync(server, "ticks", 10);
        await first.GrantAsync(3);
        Assert.Equal([0, 1, 2], (await first.NextAsync(3)).Select(m => m.Offset));
        first.Dispose();
        using ConsumeStream second = await ConsumeStream.OpenAsync(server, member);
        await second.GrantAsync(10);
        Assert.Equal(Enumerable.Range(0, 10).Select(i => (long)i), (await second.NextAsync(10)).Select(m => m.Offset));
        await PublishAsync(server, "ticks", 1);
        await second.GrantAsync(1);
        Assert.Equal(10, (await second.NextAsync()).Offset);
        await Eventually.TrueAsync(
            async () =>
                (
                    await server.Control.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                        "DescribeGroup",
                        new() { Topic = "ticks", Group = "readers" }
                    )
                )
                    .Group
                    .Lag == 0,
            TimeSpan.FromSeconds(30),
            () => "the group is not done"
        );
    }

    [Fact]
    public async Task Workers_share_partitions_with_members_of_the_SDK()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("jobs", new TopicSettings { Kind = TopicKind.Durable, Partitions = 4 });
        using ConsumeStream worker = await ConsumeStream.OpenAsync(server, Worker(credit: 1000));
        await using var client = new LightQClient(server.ConnectionString);
        int started = 0;
        ConsumeOptions options = new()
        {
            Group = "workers",
            SettleMode = SettleMode.Explicit,
            OnSubscribed = _ => Interlocked.Increment(ref started),
        };
        await using IAsyncEnumerator<Message> member = client
            .ConsumeAsync("jobs", options, TestContext.Current.CancellationToken)
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        ValueTask<bool> moving = member.MoveNextAsync();
        await Eventually.TrueAsync(
            () => Volatile.Read(ref started) == 4,
            TimeSpan.FromSeconds(30),
            () => "not subscribed"
        );
        Group group = (
            await server.Control.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                "DescribeGroup",
                new() { Topic = "jobs", Group = "workers" }
            )
        ).Group;
        Assert.All(group.Partitions, p => Assert.Single(p.Members, m => m.Assigned));
        uint[] own =
        [
            .. group
                .Partitions.Where(p => p.Members.Single(m => m.Assigned).ConnectionId == worker.Subscribed.ConnectionId)
                .Select(p => p.Partition),
        ];
        Assert.Equal(2, own.Length);

        await PublishAsync(server, "jobs", 200);
        Assert.True(await moving);
        Assert.DoesNotContain((uint)member.Current.Partition, own);
        DeliveredMessage[] jobs = await worker.NextAsync(
            own.Sum(p => (int)server.Broker.GetTopic("jobs").Partitions[(int)p].Log.EndOffset)
        );
        Assert.Equal(own, jobs.Select(j => j.Partition).Distinct().Order());
    }

    [Fact]
    public async Task Batches_of_several_partitions_come_bit_by_bit()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("jobs", new TopicSettings { Kind = TopicKind.Durable, Partitions = 3 });
        await PublishAsync(server, "jobs", 90);
        using ConsumeStream worker = await ConsumeStream.OpenAsync(server, Worker(credit: 1));
        var seen = new HashSet<string>();
        for (int i = 0; i < 90; i++)
        {
            DeliveredMessage job = await worker.NextAsync();
            Assert.Equal($"key-{job.Body.ToStringUtf8()}", job.Key.ToStringUtf8());
            Assert.True(seen.Add(job.Body.ToStringUtf8()));
            await worker.WriteAsync(
                new ConsumeRequest
                {
                    Settle = new Settle { Settlements = { ConsumeStream.Of(job, SettleKind.Complete) } },
                }
            );
            await worker.GrantAsync(1);
        }
    }

    private static Subscribe Worker(uint credit) =>
        new()
        {
            Topic = "jobs",
            Group = "workers",
            SettleMode = GroupSettleMode.Explicit,
            Credit = credit,
        };

    /// <summary>A broker with a durable topic and jobs in one batch.</summary>
    private static async Task<TestServer> JobsAsync(int count, string? directory = null)
    {
        TestServer server = await TestServer.StartAsync(directory);
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        await PublishAsync(server, "jobs", count);
        return server;
    }

    private static async Task PublishAsync(TestServer server, string topic, int count)
    {
        var request = new PublishRequest { Topic = topic };
        for (int i = 0; i < count; i++)
            request.Messages.Add(PublishStream.Text($"{i}", $"key-{i}"));
        await server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request);
    }

    private static async Task<Group> DescribeAsync(TestServer server) =>
        (
            await server.Control.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                "DescribeGroup",
                new() { Topic = "jobs", Group = "workers" }
            )
        ).Group;

    private static async Task<IEnumerable<GroupReason>> ExplainAsync(TestServer server) =>
        (
            await server.Control.CallAsync<ExplainGroupRequest, ExplainGroupResponse>(
                "ExplainGroup",
                new() { Topic = "jobs", Group = "workers" }
            )
        ).Reasons;
}
