using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Security;
using LightQ.Protocol.Control;
using LightQ.Tests.Shared;
using Xunit;
using Grant = LightQ.Broker.Users.Grant;
using Group = LightQ.Protocol.Control.Group;
using Right = LightQ.Broker.Users.Right;
using Topic = LightQ.Broker.Topics.Topic;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.Messages;

/// <summary>Members of groups that are Fetch calls.</summary>
public sealed class FetchCallTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task What_is_fetched_is_settled_one_by_one_in_later_calls()
    {
        await using TestServer server = await JobsAsync(5);
        DeliveredMessage[] jobs = await FetchAsync(server, new() { MaxMessages = 4 });
        Assert.Equal(
            [(0L, "0", 1u), (1, "1", 1u), (2, "2", 1u), (3, "3", 1u)],
            jobs.Select(j => (j.Offset, j.Body.ToStringUtf8(), j.DeliveryCount))
        );
        Assert.All(
            jobs,
            j =>
                Assert.InRange(j.LockEndTime.ToDateTime(), DateTime.UtcNow.AddSeconds(1), DateTime.UtcNow.AddMinutes(2))
        );
        Assert.Equal(4, jobs.Select(j => j.SettleToken).Distinct().Count());
        Assert.Equal(4u, (await DescribeAsync(server)).InFlight);

        Assert.Equal(
            [SettleOutcome.Done, SettleOutcome.Done, SettleOutcome.Done, SettleOutcome.Done, SettleOutcome.Unknown],
            await SettleAsync(
                server,
                Settle(jobs[3], SettleKind.Renew),
                Settle(jobs[0], SettleKind.Complete),
                Settle(jobs[1], SettleKind.Abandon, delay: new Duration()),
                Settle(jobs[2], SettleKind.DeadLetter, reason: "no such customer"),
                Settle(jobs[0], SettleKind.Complete)
            )
        );
        Assert.Equal([SettleOutcome.Unknown], await SettleAsync(server, Settle(jobs[0], SettleKind.Abandon)));

        DeliveredMessage again = Assert.Single(await FetchAsync(server, new() { Wait = Seconds(30) }));
        Assert.Equal((1L, 2u), (again.Offset, again.DeliveryCount));
        Assert.Equal(4, Assert.Single(await FetchAsync(server, new())).Offset);
        Assert.Empty(await FetchAsync(server, new() { MaxMessages = 1000 }));
        await Eventually.TrueAsync(
            () =>
                server.Broker.TryGetTopic("jobs.dead", out Topic? topic) && topic.Partitions[0].Log.ReadableOffset == 1,
            Patience,
            () => "no dead letter"
        );
    }

    [Fact]
    public async Task A_fetch_that_waits_gets_what_is_published_then()
    {
        await using TestServer server = await JobsAsync(0);
        Task<DeliveredMessage[]> waiting = FetchAsync(server, new() { MaxMessages = 10, Wait = Seconds(60) });
        await WaitsAsync(server);
        await PublishAsync(server, 1);
        Assert.Equal("0", Assert.Single(await waiting).Body.ToStringUtf8());
    }

    [Fact]
    public async Task Nothing_is_an_answer_when_the_time_is_over()
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o => o with { TimeProvider = time });
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        Task<DeliveredMessage[]> waiting = FetchAsync(server, new() { Wait = Seconds(5) });
        await WaitsAsync(server);
        time.Advance(TimeSpan.FromSeconds(5));
        Assert.Empty(await waiting);
        Assert.All(
            server.Broker.GetTopic("jobs").Partitions[0].Groups().Single().Figures().Members,
            m => Assert.True(m.Credit <= 0)
        );
    }

    [Fact]
    public async Task Two_who_wait_share_what_comes()
    {
        await using TestServer server = await JobsAsync(0);
        Task<DeliveredMessage[]>[] waiting =
        [
            FetchAsync(server, new() { MaxMessages = 1, Wait = Seconds(60) }),
            FetchAsync(server, new() { MaxMessages = 1, Wait = Seconds(60) }),
        ];
        await WaitsAsync(server);
        await PublishAsync(server, 2);
        DeliveredMessage[][] all = await Task.WhenAll(waiting);
        Assert.Equal([0, 1], all.Select(a => Assert.Single(a).Offset).Order());
        Group group = await DescribeAsync(server);
        Assert.Equal((2u, 1u), (group.InFlight, group.MembersCount));
    }

    [Fact]
    public async Task Fetches_share_with_a_call_that_streams()
    {
        await using TestServer server = await JobsAsync(3);
        DeliveredMessage own = Assert.Single(await FetchAsync(server, new() { MaxMessages = 1 }));
        using ConsumeStream worker = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "jobs",
                Group = "workers",
                SettleMode = GroupSettleMode.Explicit,
                Credit = 2,
            }
        );
        Assert.Equal([1, 2], (await worker.NextAsync(2)).Select(m => m.Offset));
        Assert.Equal(
            [SettleOutcome.Done],
            await SettleAsync(server, Settle(own, SettleKind.Abandon, delay: new Duration()))
        );
        await worker.GrantAsync(1);
        Assert.Equal((0L, 2u), await worker.NextAsync() is var again ? (again.Offset, again.DeliveryCount) : default);
    }

    [Fact]
    public async Task A_lock_that_ran_out_is_told_and_the_message_comes_again()
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o => o with { TimeProvider = time });
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        await PublishAsync(server, 1);
        var request = new FetchRequest { LockDuration = Seconds(30), Wait = Seconds(60) };
        DeliveredMessage job = Assert.Single(await FetchAsync(server, request));
        time.Advance(TimeSpan.FromSeconds(30));
        Assert.Equal([SettleOutcome.LockExpired], await SettleAsync(server, Settle(job, SettleKind.Complete)));
        time.Advance(TimeSpan.FromMinutes(1)); // Longer than the topic waits before it tries again.
        DeliveredMessage again = Assert.Single(await FetchAsync(server, request));
        Assert.Equal((0L, 2u), (again.Offset, again.DeliveryCount));
        Assert.Equal(
            [SettleOutcome.LockExpired, SettleOutcome.Done],
            await SettleAsync(server, Settle(job, SettleKind.Complete), Settle(again, SettleKind.Complete))
        );
    }

    [Fact]
    public async Task A_lock_that_ran_out_counts_for_what_was_fetched_and_for_nothing_else()
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o => o with { TimeProvider = time });
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        await PublishAsync(server, 6);
        var request = new FetchRequest
        {
            LockDuration = Seconds(30),
            Wait = Seconds(60),
            MaxMessages = 3,
        };
        Assert.Equal(3, (await FetchAsync(server, request)).Length);
        time.Advance(TimeSpan.FromSeconds(30));
        time.Advance(TimeSpan.FromMinutes(1));
        request.MaxMessages = 6;
        var jobs = new List<DeliveredMessage>();
        while (jobs.Count < 6)
            jobs.AddRange(await FetchAsync(server, request));
        Assert.Equal(
            [(0L, 2u), (1, 2u), (2, 2u), (3, 1u), (4, 1u), (5, 1u)],
            jobs.Select(j => (j.Offset, j.DeliveryCount))
        );
    }

    [Fact]
    public async Task Who_fetches_no_more_leaves_the_group_once_nothing_is_held()
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o => o with { TimeProvider = time });
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        await PublishAsync(server, 1);
        DeliveredMessage job = Assert.Single(await FetchAsync(server, new() { LockDuration = Seconds(60) }));
        time.Advance(TimeSpan.FromSeconds(20));
        Assert.Equal(1u, (await DescribeAsync(server)).MembersCount);
        Assert.Equal([SettleOutcome.Done], await SettleAsync(server, Settle(job, SettleKind.Complete)));
        time.Advance(TimeSpan.FromSeconds(10));
        await Eventually.TrueAsync(
            async () => (await DescribeAsync(server)).MembersCount == 0,
            Patience,
            () => "it is still a member"
        );
        Assert.Equal([SettleOutcome.LockExpired], await SettleAsync(server, Settle(job, SettleKind.Complete)));
        Assert.Empty(await FetchAsync(server, new()));
    }

    [Fact]
    public async Task An_answer_has_about_a_mebibyte_and_the_rest_comes_uncounted()
    {
        await using TestServer server = await JobsAsync(0);
        var request = new PublishRequest { Topic = "jobs" };
        for (int i = 0; i < 30; i++)
        {
            request.Messages.Add(
                new PublishedMessage { Body = Google.Protobuf.ByteString.CopyFrom(new byte[100_000]) }
            );
        }

        await server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request);
        var seen = new List<DeliveredMessage>();
        while (seen.Count < 30)
        {
            DeliveredMessage[] part = await FetchAsync(server, new() { MaxMessages = 1000, Wait = Seconds(60) });
            Assert.InRange(part.Sum(m => m.Body.Length), 1, 1200 * 1024);
            seen.AddRange(part);
        }
        Assert.Equal(Enumerable.Range(0, 30).Select(i => ((long)i, 1u)), seen.Select(m => (m.Offset, m.DeliveryCount)));
    }

    [Fact]
    public async Task Tokens_that_are_none_refuse_the_whole_request()
    {
        await using TestServer server = await JobsAsync(1);
        DeliveredMessage job = Assert.Single(await FetchAsync(server, new()));
        foreach (
            string token in new[]
            {
                "",
                "x",
                new string('A', 42),
                new string('!', 43),
                new string('_', 43) + "=",
                new string('é', 43),
            }
        )
        {
            RpcException refused = await ControlCalls.FailsAsync(
                () =>
                    SettleAsync(
                        server,
                        Settle(job, SettleKind.Complete),
                        new FetchedSettlement { Token = token, Kind = SettleKind.Complete }
                    ),
                StatusCode.InvalidArgument,
                "InvalidArgument"
            );
            Assert.Contains("settlements[1].token", refused.Status.Detail, StringComparison.Ordinal);
        }
        await ControlCalls.FailsAsync(() => SettleAsync(server), StatusCode.InvalidArgument, "InvalidArgument");
        await ControlCalls.FailsAsync(
            () => SettleAsync(server, Settle(job, SettleKind.Unspecified)),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
        Assert.Equal(
            [SettleOutcome.LockExpired, SettleOutcome.Done],
            await SettleAsync(
                server,
                new FetchedSettlement { Token = new string('A', 43), Kind = SettleKind.Complete },
                Settle(job, SettleKind.Complete)
            )
        );
    }

    [Fact]
    public async Task A_token_is_worth_nothing_to_another_user_and_on_another_topic()
    {
        await using TestServer server = await JobsAsync(2);
        await server.CreateTopicAsync("others", TopicKind.Durable);
        string alice = Caller.Create(server, "alice", (Right.Consume, "*")).Token!,
            bob = Caller.Create(server, "bob", (Right.Consume, "*")).Token!;
        DeliveredMessage job = Assert.Single(await FetchAsync(server, new(), alice));
        Assert.Equal(
            [SettleOutcome.LockExpired],
            await SettleAsync(server, bob, "jobs", Settle(job, SettleKind.Complete))
        );
        Assert.Equal(
            [SettleOutcome.LockExpired],
            await SettleAsync(server, alice, "others", Settle(job, SettleKind.Complete))
        );
        Assert.Equal(1, Assert.Single(await FetchAsync(server, new(), bob)).Offset);
        Assert.Equal([SettleOutcome.Done], await SettleAsync(server, alice, "jobs", Settle(job, SettleKind.Complete)));
    }

    [Fact]
    public async Task Who_loses_the_right_loses_the_messages()
    {
        await using TestServer server = await JobsAsync(1);
        string alice = Caller.Create(server, "alice", (Right.Consume, "jobs")).Token!;
        Assert.Single(await FetchAsync(server, new(), alice));
        Task<DeliveredMessage[]> waiting = FetchAsync(server, new() { Wait = Seconds(60) }, alice);
        await WaitsAsync(server);
        server.Broker.Users.Revoke("alice", Grant.Create(Right.Consume, "jobs"));
        await ControlCalls.FailsAsync(() => waiting, StatusCode.PermissionDenied, "PermissionDenied");
        await Eventually.TrueAsync(
            () => server.Broker.GetTopic("jobs").Partitions[0].Groups().Single().MemberCount == 0,
            Patience,
            () => "it is still a member"
        );
    }

    [Fact]
    public async Task A_topic_that_is_deleted_ends_who_waits_and_another_one_of_that_name_is_another()
    {
        await using TestServer server = await JobsAsync(1);
        DeliveredMessage job = Assert.Single(await FetchAsync(server, new()));
        Task<DeliveredMessage[]> waiting = FetchAsync(server, new() { Wait = Seconds(60) });
        await WaitsAsync(server);
        await server.Broker.DeleteTopicAsync("jobs", TestContext.Current.CancellationToken);
        await ControlCalls.FailsAsync(() => waiting, StatusCode.NotFound, "TopicDeleted");
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        await PublishAsync(server, 1);
        Assert.Equal([SettleOutcome.LockExpired], await SettleAsync(server, Settle(job, SettleKind.Complete)));
        Assert.Equal(1u, Assert.Single(await FetchAsync(server, new() { Wait = Seconds(60) })).DeliveryCount);
    }

    [Fact]
    public async Task A_stop_ends_who_waits_and_what_was_held_comes_uncounted()
    {
        using var directory = new TemporaryDirectory();
        await using TestServer server = await JobsAsync(1, directory.Path);
        DeliveredMessage job = Assert.Single(await FetchAsync(server, new()));
        Task<DeliveredMessage[]> waiting = FetchAsync(server, new() { Wait = Seconds(60) });
        await WaitsAsync(server);
        Task stopped = server.Server.StopAsync(TimeSpan.FromSeconds(30));
        RpcException end = await Assert.ThrowsAsync<RpcException>(() => waiting);
        Assert.Equal(StatusCode.Unavailable, end.StatusCode);
        await stopped;
        await server.RestartAsync();
        Assert.Equal([SettleOutcome.LockExpired], await SettleAsync(server, Settle(job, SettleKind.Complete)));
        Assert.Equal(
            (0L, 1u),
            Assert.Single(await FetchAsync(server, new())) is var again ? (again.Offset, again.DeliveryCount) : default
        );
    }

    [Fact]
    public async Task A_drain_waits_until_what_was_fetched_is_settled()
    {
        await using TestServer server = await JobsAsync(2);
        DeliveredMessage job = Assert.Single(await FetchAsync(server, new()));
        Task drained = server.Server.DrainAsync(TimeSpan.FromMinutes(5), TestContext.Current.CancellationToken);
        await ControlCalls.FailsAsync(() => FetchAsync(server, new()), StatusCode.Unavailable, "ShuttingDown");
        Assert.False(drained.IsCompleted);
        Assert.Equal([SettleOutcome.Done], await SettleAsync(server, Settle(job, SettleKind.Complete)));
        await drained.WaitAsync(Patience, TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task Partitions_are_shared_and_one_can_be_asked_for()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("jobs", new TopicSettings { Kind = TopicKind.Durable, Partitions = 3 });
        await PublishAsync(server, 30);
        DeliveredMessage[] first = await FetchAsync(server, new() { MaxMessages = 1000, Partition = 1 });
        Assert.All(first, m => Assert.Equal(1u, m.Partition));
        Assert.All(
            await SettleAsync(server, [.. first.Select(m => Settle(m, SettleKind.Complete))]),
            o => Assert.Equal(SettleOutcome.Done, o)
        );
        DeliveredMessage[] others = await FetchAsync(server, new() { MaxMessages = 1000, Wait = Seconds(60) });
        Assert.All(others, m => Assert.NotEqual(1u, m.Partition));
        Assert.Equal(30, first.Length + others.Length);
    }

    [Fact]
    public async Task What_is_asked_for_has_bounds()
    {
        await using TestServer server = await JobsAsync(1);
        FetchRequest[] wrong =
        [
            new() { Group = ".." },
            new() { MaxMessages = 1001 },
            new() { Wait = Seconds(61) },
            new() { Wait = Seconds(-1) },
            new() { LockDuration = new Duration() },
            new() { LockDuration = Seconds(43_201) },
        ];
        foreach (FetchRequest request in wrong)
        {
            await ControlCalls.FailsAsync(
                () => FetchAsync(server, request),
                StatusCode.InvalidArgument,
                "InvalidArgument"
            );
        }

        await ControlCalls.FailsAsync(
            () => FetchAsync(server, new(), group: ""),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
        await ControlCalls.FailsAsync(
            () => FetchAsync(server, new() { Partition = 1 }),
            StatusCode.NotFound,
            "UnknownPartition"
        );
        await server.CreateTopicAsync("ticks");
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<FetchRequest, FetchResponse>(
                    "Fetch",
                    new() { Topic = "ticks", Group = "workers" }
                ),
            StatusCode.InvalidArgument,
            "NotSupported"
        );
        Assert.Single(await FetchAsync(server, new()));
    }

    [Fact]
    public async Task There_are_no_more_members_than_the_limit_says()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { Http = new() { MaxFetchers = 1 } });
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        Assert.Empty(await FetchAsync(server, new()));
        RpcException refused = await ControlCalls.FailsAsync(
            () => FetchAsync(server, new(), group: "others"),
            StatusCode.ResourceExhausted,
            "ResourceExhausted"
        );
        Assert.Contains("Http:MaxFetchers", refused.Status.Detail, StringComparison.Ordinal);
        Assert.Equal(1, server.Server.Limits.Refusals["Http:MaxFetchers"]);
        Assert.Empty(await FetchAsync(server, new()));
    }

    private static Duration Seconds(int seconds) => new() { Seconds = seconds };

    private static FetchedSettlement Settle(
        DeliveredMessage message,
        SettleKind kind,
        Duration? delay = null,
        string reason = ""
    ) =>
        new()
        {
            Token = message.SettleToken,
            Kind = kind,
            Delay = delay,
            Reason = reason,
        };

    private static Task<IEnumerable<SettleOutcome>> SettleAsync(
        TestServer server,
        params FetchedSettlement[] settlements
    ) => SettleAsync(server, null, "jobs", settlements);

    private static async Task<IEnumerable<SettleOutcome>> SettleAsync(
        TestServer server,
        string? token,
        string topic,
        params FetchedSettlement[] settlements
    ) =>
        (
            await server.Control.CallAsync<SettleRequest, SettleResponse>(
                "Settle",
                new() { Topic = topic, Settlements = { settlements } },
                token
            )
        ).Outcomes;

    private static async Task<DeliveredMessage[]> FetchAsync(
        TestServer server,
        FetchRequest request,
        string? token = null,
        string group = "workers"
    )
    {
        request = request.Clone();
        request.Topic = "jobs";
        if (request.Group.Length == 0)
            request.Group = group;
        FetchResponse response = await server.Control.CallAsync<FetchRequest, FetchResponse>("Fetch", request, token);
        Assert.Empty(response.Gaps);
        return [.. response.Messages];
    }

    private static async Task<Group> DescribeAsync(TestServer server) =>
        (
            await server.Control.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                "DescribeGroup",
                new() { Topic = "jobs", Group = "workers" }
            )
        ).Group;

    /// <summary>Until a fetch waits: it has granted credit, and nothing has come of it.</summary>
    private static Task WaitsAsync(TestServer server) =>
        Eventually.TrueAsync(
            () =>
                server
                    .Broker.GetTopic("jobs")
                    .Partitions[0]
                    .Groups()
                    .Any(g => g.Figures().Members.Any(m => m.Credit > 0)),
            Patience,
            () => "no fetch waits"
        );

    private static async Task<TestServer> JobsAsync(int count, string? directory = null)
    {
        TestServer server = await TestServer.StartAsync(directory);
        await server.CreateTopicAsync("jobs", TopicKind.Durable);
        if (count != 0)
            await PublishAsync(server, count);
        return server;
    }

    private static async Task PublishAsync(TestServer server, int count)
    {
        var request = new PublishRequest { Topic = "jobs" };
        for (int i = 0; i < count; i++)
            request.Messages.Add(PublishStream.Text($"{i}", $"key-{i}"));
        await server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request);
    }
}
