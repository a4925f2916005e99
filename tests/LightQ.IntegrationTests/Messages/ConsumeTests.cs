using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Records;
using Xunit;
using FrameType = LightQ.Protocol.Frames.FrameType;
using GapReason = LightQ.Protocol.Control.GapReason;
using SettleKind = LightQ.Protocol.Control.SettleKind;
using SettleOutcome = LightQ.Protocol.Control.SettleOutcome;
using Subscription = LightQ.Protocol.Control.Subscription;
using Topic = LightQ.Broker.Topics.Topic;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.Messages;

public sealed class ConsumeTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static TheoryData<string, object, StatusCode, string> Refusals =>
        new()
        {
            {
                "topic",
                new Subscribe { Topic = "nowhere" },
                StatusCode.NotFound,
                "UnknownTopic"
            },
            {
                "partition",
                new Subscribe { Topic = "orders", Partition = 2 },
                StatusCode.NotFound,
                "UnknownPartition"
            },
            {
                "one offset for two partitions",
                new Subscribe { Topic = "orders", Offset = 1 },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "offset",
                new Subscribe
                {
                    Topic = "orders",
                    Partition = 0,
                    Offset = -1,
                },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "false start",
                new Subscribe { Topic = "orders", Latest = false },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "time",
                new Subscribe
                {
                    Topic = "orders",
                    Time = new Timestamp { Nanos = int.MaxValue },
                },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "committed without a group",
                new Subscribe { Topic = "orders", Committed = true },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "group's name",
                new Subscribe { Topic = "orders", Group = "../x" },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "explicit on a transient topic",
                new Subscribe
                {
                    Topic = "orders",
                    Group = "g",
                    SettleMode = GroupSettleMode.Explicit,
                },
                StatusCode.InvalidArgument,
                "NotSupported"
            },
            {
                "settle mode",
                new Subscribe { Topic = "orders", SettleMode = (GroupSettleMode)9 },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "slow policy",
                new Subscribe { Topic = "orders", SlowPolicy = (SlowConsumerPolicy)9 },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "slow time-out",
                new Subscribe
                {
                    Topic = "orders",
                    SlowTimeout = new Duration { Nanos = 1 },
                },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "short lock",
                new Subscribe
                {
                    Topic = "orders",
                    Group = "g",
                    SettleMode = GroupSettleMode.Explicit,
                    LockDuration = new Duration { Nanos = 1 },
                },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "lock without a group",
                new Subscribe
                {
                    Topic = "orders",
                    LockDuration = new Duration { Seconds = 5 },
                },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "max in flight",
                new Subscribe { Topic = "orders", MaxInFlight = 1 },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "positions of a group",
                new Subscribe
                {
                    Topic = "orders",
                    Group = "g",
                    Positions = { new PartitionStart() },
                },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "position",
                new Subscribe { Topic = "orders", Positions = { new PartitionStart { Offset = -1 } } },
                StatusCode.InvalidArgument,
                "InvalidArgument"
            },
            {
                "position elsewhere",
                new Subscribe { Topic = "orders", Positions = { new PartitionStart { Partition = 5 } } },
                StatusCode.NotFound,
                "UnknownPartition"
            },
        };

    public static TheoryData<string, object, string> Violations =>
        new()
        {
            {
                "second subscribe",
                new ConsumeRequest { Subscribe = new Subscribe { Topic = "orders" } },
                "InvalidArgument"
            },
            { "nothing", new ConsumeRequest(), "InvalidArgument" },
            {
                "no credit",
                new ConsumeRequest { Credit = new Credit() },
                "InvalidArgument"
            },
            {
                "no settlement",
                new ConsumeRequest { Settle = new Settle() },
                "InvalidArgument"
            },
            {
                "too many settlements",
                new ConsumeRequest
                {
                    Settle = new Settle
                    {
                        Settlements = { Enumerable.Repeat(new Settlement { Kind = SettleKind.Complete }, 10_001) },
                    },
                },
                "InvalidArgument"
            },
            { "no kind", Settling(new Settlement()), "InvalidArgument" },
            { "kind", Settling(new Settlement { Kind = (SettleKind)9 }), "InvalidArgument" },
            { "offset", Settling(new Settlement { Kind = SettleKind.Complete, FirstOffset = -1 }), "InvalidArgument" },
            {
                "delay",
                Settling(new Settlement { Kind = SettleKind.Complete, Delay = new Duration() }),
                "InvalidArgument"
            },
            {
                "long delay",
                Settling(
                    new Settlement
                    {
                        Kind = SettleKind.Abandon,
                        Delay = new Duration { Seconds = 1L << 33 },
                    }
                ),
                "InvalidArgument"
            },
            { "reason", Settling(new Settlement { Kind = SettleKind.Renew, Reason = "why" }), "InvalidArgument" },
            { "partition", Settling(new Settlement { Kind = SettleKind.Complete, Partition = 3 }), "UnknownPartition" },
        };

    [Fact]
    public async Task Messages_come_as_far_as_there_is_credit()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await PublishAsync(server, "orders", 10);
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "orders",
                Earliest = true,
                Credit = 3,
            }
        );
        PartitionSubscribed partition = Assert.Single(stream.Subscribed.Partitions);
        Assert.Equal(
            (0u, 0L, 10L, 1u),
            (partition.Partition, partition.NextOffset, partition.EndOffset, stream.Subscribed.PartitionsCount)
        );
        Assert.Equal([0, 1, 2], (await stream.NextAsync(3)).Select(m => m.Offset));
        // An answer overtakes what there is no credit for: had more been sent, it would come first.
        Assert.Equal([SettleOutcome.Unknown], await stream.SettleAsync(new Settlement { Kind = SettleKind.Complete }));
        await stream.GrantAsync(1);
        DeliveredMessage next = await stream.NextAsync();
        Assert.Equal(
            (3L, "3", "key-3", 0u),
            (next.Offset, next.Body.ToStringUtf8(), next.Key.ToStringUtf8(), next.DeliveryId)
        );
        Assert.Equal("3", Assert.Single(next.Headers).Value.ToStringUtf8());
        Assert.InRange(next.AppendTime.ToDateTime(), DateTime.UtcNow.AddMinutes(-5), DateTime.UtcNow.AddMinutes(5));
        for (int i = 0; i < 3; i++)
            await stream.GrantAsync(uint.MaxValue);
        Assert.Equal([4, 5, 6, 7, 8, 9], (await stream.NextAsync(6)).Select(m => m.Offset));
        await PublishAsync(server, "orders", 1);
        Assert.Equal(10, (await stream.NextAsync()).Offset);
    }

    [Fact]
    public async Task A_client_that_ends_its_side_is_sent_what_it_has_credit_for()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe { Topic = "orders", Credit = 2 }
        );
        await stream.EndAsync();
        await PublishAsync(server, "orders", 5);
        Assert.Equal([0, 1], (await stream.NextAsync(2)).Select(m => m.Offset));
        Assert.Null(await stream.ReadAsync());
    }

    [Fact]
    public async Task Compressed_expired_and_delayed_batches_are_what_they_are_to_the_SDK()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        foreach (BatchCodec codec in new[] { BatchCodec.Brotli, BatchCodec.Deflate })
        {
            await using Producer producer = await client.CreateProducerAsync(
                "orders",
                new() { Compression = codec, CompressionMinimumBytes = 0 },
                Cancelled
            );
            using BatchBuilder batch = producer.CreateBatch();
            for (int i = 0; i < 5; i++)
                Assert.True(batch.TryAdd(new byte[1000]));
            await producer.PublishAsync(batch, Cancelled);
        }
        await using Producer plain = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        await plain.PublishAsync(
            "gone"u8.ToArray(),
            new PublishOptions { TimeToLive = TimeSpan.FromMilliseconds(1) },
            cancellationToken: Cancelled
        );
        await plain.PublishAsync(
            "later"u8.ToArray(),
            new PublishOptions { Delay = TimeSpan.FromMilliseconds(50) },
            cancellationToken: Cancelled
        );
        await Eventually.TrueAsync(
            () => server.Broker.GetTopic("orders").Partitions[0].Log.ReadableOffset == 13,
            TimeSpan.FromSeconds(30),
            () => "the delayed message does not come"
        );

        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "orders",
                Offset = 3,
                Credit = 100,
            }
        );
        DeliveredMessage[] inflated = await stream.NextAsync(7);
        Assert.Equal([3, 4, 5, 6, 7, 8, 9], inflated.Select(m => m.Offset));
        Assert.All(inflated, m => Assert.Equal(1000, m.Body.Length));
        Gap gap = (await stream.ReadAsync())!.Gap;
        Assert.Equal((10L, 10L, GapReason.Expired), (gap.FirstOffset, gap.LastOffset, gap.Reason));
        DeliveredMessage later = await stream.NextAsync();
        Assert.Equal((12L, "later"), (later.Offset, later.Body.ToStringUtf8()));
    }

    [Fact]
    public async Task All_partitions_come_in_one_stream_and_each_resumes_where_it_was()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("clicks", new TopicSettings { Partitions = 3 });
        await PublishAsync(server, "clicks", 60);
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "clicks",
                Earliest = true,
                Credit = 60,
            }
        );
        DeliveredMessage[] all = await stream.NextAsync(60);
        Assert.Equal(3, all.GroupBy(m => m.Partition).Count());
        Assert.All(
            all.GroupBy(m => m.Partition),
            p => Assert.Equal(Enumerable.Range(0, p.Count()).Select(i => (long)i), p.Select(m => m.Offset))
        );

        var resumed = new Subscribe { Topic = "clicks", Credit = 100 };
        foreach (PartitionSubscribed partition in stream.Subscribed.Partitions)
        {
            // The last of each was not seen; and partition 2 was another log then.
            long end = all.Count(m => m.Partition == partition.Partition);
            resumed.Positions.Add(
                new PartitionStart
                {
                    Partition = partition.Partition,
                    Offset = end - 1,
                    Epoch = partition.Epoch,
                    Incarnation = partition.Incarnation + (partition.Partition == 2 ? 1u : 0u),
                }
            );
        }
        using ConsumeStream again = await ConsumeStream.OpenAsync(server, resumed);
        var seen = new List<(uint, long)>();
        Gap? cut = null;
        int left = 2 + all.Count(m => m.Partition == 2);
        while (left > 0)
        {
            ConsumeResponse response = (await again.ReadAsync())!;
            if (response.Gap is not null)
                cut = response.Gap;
            foreach (DeliveredMessage message in response.Delivery?.Messages ?? [])
            {
                seen.Add((message.Partition, message.Offset));
                left--;
            }
        }
        Assert.Equal((2u, 0L, GapReason.Truncated), (cut!.Partition, cut.FirstOffset, cut.Reason));
        Assert.Equal(1, seen.Count(m => m.Item1 == 0));
        Assert.Contains((1u, all.Count(m => m.Partition == 1) - 1L), seen);
        Assert.Equal(all.Count(m => m.Partition == 2), seen.Count(m => m.Item1 == 2));
    }

    [Fact]
    public async Task Offsets_that_are_not_held_any_more_are_a_gap()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await PublishAsync(server, "orders", 4);
        await PublishAsync(server, "orders", 4);
        server.Broker.TruncateTopic("orders", 0, 4);
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "orders",
                Offset = 1,
                Credit = 1,
            }
        );
        Gap gap = (await stream.ReadAsync())!.Gap;
        Assert.Equal((1L, 3L, GapReason.Retention), (gap.FirstOffset, gap.LastOffset, gap.Reason));
        Assert.Equal(4, (await stream.NextAsync()).Offset);
    }

    [Fact]
    public async Task A_message_whose_headers_contradict_themselves_is_a_gap_and_those_behind_it_come()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        byte[] batch = new byte[512];
        int at = BatchLayout.HeaderSize;
        at += RecordWriter.Write(batch.AsSpan(at), "first"u8);
        at += RecordWriter.Write(batch.AsSpan(at), "second"u8, default, hasKey: false, [200, 1, 2]);
        at += RecordWriter.Write(batch.AsSpan(at), "third"u8);
        int length = BatchWriter.Complete(batch, at - BatchLayout.HeaderSize, 3, default, timestamp: 1);
        await using (RawClient client = await RawClient.ConnectAsync(server.DataPort))
        {
            await client.OpenProducerAsync("orders", 1);
            await client.SendAsync(RawClient.PublishFrame(1, batch[..length]));
            await client.ReadAsync(FrameType.PublishAck);
        }
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "orders",
                Earliest = true,
                Credit = 10,
            }
        );
        Assert.Equal("first", (await stream.NextAsync()).Body.ToStringUtf8());
        Gap gap = (await stream.ReadAsync())!.Gap;
        Assert.Equal((1L, 1L, GapReason.Corrupt), (gap.FirstOffset, gap.LastOffset, gap.Reason));
        Assert.Equal(
            (2L, "third"),
            (await stream.NextAsync() is var third ? third.Offset : -1, third.Body.ToStringUtf8())
        );
    }

    [Fact]
    public async Task Receipts_are_counted_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic topic = await server.CreateTopicAsync("orders");
        await PublishAsync(server, "orders", 2);
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "orders",
                Earliest = true,
                Credit = 2,
                SettleMode = GroupSettleMode.Explicit,
            }
        );
        DeliveredMessage[] messages = await stream.NextAsync(2);
        Settlement receipt = ConsumeStream.Of(messages[0], SettleKind.Complete);
        Assert.Equal([SettleOutcome.Done, SettleOutcome.Unknown], await stream.SettleAsync(receipt, receipt));
        Assert.Equal(
            1u,
            (
                await server.Control.CallAsync<GetTopicStatsRequest, GetTopicStatsResponse>(
                    "GetTopicStats",
                    new() { Topic = topic.Name }
                )
            )
                .Stats
                .MessagesSettled
        );
    }

    [Theory]
    [MemberData(nameof(Refusals))]
    public async Task A_subscription_that_cannot_be_is_refused(
        string what,
        object subscribe,
        StatusCode status,
        string code
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("orders", new TopicSettings { Partitions = 2 });
        using var stream = new ConsumeStream(server);
        await stream.WriteAsync(new ConsumeRequest { Subscribe = (Subscribe)subscribe });
        RpcException refused = await ControlCalls.FailsAsync(stream.ReadAsync, status, code);
        Assert.True(refused.Status.Detail.Length > 10, what);
        Assert.All(server.Broker.GetTopic("orders").Partitions, p => Assert.Empty(p.Subscriptions));
    }

    [Theory]
    [MemberData(nameof(Violations))]
    public async Task A_request_that_makes_no_sense_ends_the_call(string what, object request, string code)
    {
        Assert.NotEmpty(what);
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using ConsumeStream stream = await ConsumeStream.OpenAsync(server, new Subscribe { Topic = "orders" });
        await stream.WriteAsync((ConsumeRequest)request);
        await ControlCalls.FailsAsync(
            stream.ReadAsync,
            code == "UnknownPartition" ? StatusCode.NotFound : StatusCode.InvalidArgument,
            code
        );
        await Eventually.TrueAsync(
            () => server.Broker.GetTopic("orders").Partitions[0].Subscriptions.IsEmpty,
            TimeSpan.FromSeconds(20),
            () => "the subscription stays"
        );
    }

    [Fact]
    public async Task The_first_request_subscribes()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var early = new ConsumeStream(server);
        await early.GrantAsync(1);
        await ControlCalls.FailsAsync(early.ReadAsync, StatusCode.InvalidArgument, "InvalidArgument");
        using var none = new ConsumeStream(server);
        await none.EndAsync();
        await ControlCalls.FailsAsync(none.ReadAsync, StatusCode.InvalidArgument, "InvalidArgument");
    }

    [Fact]
    public async Task A_subscriber_that_grants_nothing_is_ended_when_producers_wait_for_it()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("ticks", new TopicSettings { RingBytes = 512 * 1024, MaxMessageBytes = 32 * 1024 });
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "ticks",
                SlowPolicy = SlowConsumerPolicy.Block,
                SlowTimeout = new Duration { Nanos = 500_000_000 },
            }
        );
        PublishedMessage message = PublishStream.Text(new string('x', 16 * 1024));
        Task<PublishResponse> publishing = server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new() { Topic = "ticks", Messages = { Enumerable.Repeat(message, 60) } }
        );
        RpcException ended = await ControlCalls.FailsAsync(stream.ReadAsync, StatusCode.Aborted, "SlowConsumer");
        Assert.Contains("were not sent", ended.Status.Detail, StringComparison.Ordinal);
        Assert.Equal(60, (await publishing).Positions.Count);
    }

    [Fact]
    public async Task The_deletion_of_the_topic_ends_the_call()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe { Topic = "orders", Credit = 1 }
        );
        await server.Broker.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        await ControlCalls.FailsAsync(stream.ReadAsync, StatusCode.NotFound, "TopicDeleted");
    }

    [Fact]
    public async Task A_stop_is_announced()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe { Topic = "orders", Credit = 1 }
        );
        Task stopped = server.Server.StopAsync();
        Assert.True((await stream.ReadAsync())!.GoAway.TimeLeft.ToTimeSpan() > TimeSpan.Zero);
        await ControlCalls.FailsAsync(stream.ReadAsync, StatusCode.Unavailable, "ShuttingDown");
        await stopped;
    }

    [Fact]
    public async Task A_broker_that_requires_a_login_requires_it_here()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync("orders");
        using var stream = new ConsumeStream(server);
        await ControlCalls.FailsAsync(stream.ReadAsync, StatusCode.Unauthenticated, "Unauthenticated");
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<PublishRequest, PublishResponse>(
                    "Publish",
                    new() { Topic = "orders", Messages = { PublishStream.Text("x") } }
                ),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
        string token = (
            await server.Control.CallAsync<LoginRequest, LoginResponse>(
                "Login",
                new() { User = "admin", Password = server.AdminPassword }
            )
        ).Token;
        using var allowed = new ConsumeStream(server, token);
        await allowed.WriteAsync(new ConsumeRequest { Subscribe = new Subscribe { Topic = "orders" } });
        Assert.Equal(ConsumeResponse.ResponseOneofCase.Subscribed, (await allowed.ReadAsync())!.ResponseCase);
    }

    [Fact]
    public async Task Open_calls_are_listed_among_the_connections()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using ConsumeStream stream = await ConsumeStream.OpenAsync(
            server,
            new Subscribe { Topic = "orders", Credit = 1 }
        );
        (PublishStream publisher, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
        using PublishStream owned = publisher;
        ListConnectionsResponse listed = await server.Control.CallAsync<
            ListConnectionsRequest,
            ListConnectionsResponse
        >("ListConnections", new());
        Assert.Equal([(0u, 1u), (1u, 0u)], listed.Connections.Select(c => (c.PublishersCount, c.SubscribersCount)));
        Assert.Equal(stream.Subscribed.ConnectionId, listed.Connections[0].Id);
        Assert.All(listed.Connections, c => Assert.StartsWith("127.0.0.1:", c.RemoteAddress, StringComparison.Ordinal));
        Subscription subscription = Assert.Single(
            (
                await server.Control.CallAsync<ListSubscriptionsRequest, ListSubscriptionsResponse>(
                    "ListSubscriptions",
                    new()
                )
            ).Subscriptions
        );
        Assert.Equal(stream.Subscribed.ConnectionId, subscription.ConnectionId);
        stream.Dispose();
        await Eventually.TrueAsync(
            async () =>
                (
                    await server.Control.CallAsync<ListConnectionsRequest, ListConnectionsResponse>(
                        "ListConnections",
                        new()
                    )
                )
                    .Connections
                    .Count == 1,
            TimeSpan.FromSeconds(20),
            () => "the call stays"
        );
    }

    private static ConsumeRequest Settling(Settlement settlement) =>
        new() { Settle = new Settle { Settlements = { settlement } } };

    /// <summary>Publishes messages in one batch of each partition: body, key and header say their numbers.</summary>
    private static async Task PublishAsync(TestServer server, string topic, int count)
    {
        var request = new PublishRequest { Topic = topic };
        for (int i = 0; i < count; i++)
        {
            PublishedMessage message = PublishStream.Text($"{i}", $"key-{i}");
            message.Headers.Add(new Protocol.Control.MessageHeader { Name = "number", Value = message.Body });
            request.Messages.Add(message);
        }
        await server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request);
    }
}
