using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Tests.Shared;
using Xunit;
using SettleKind = LightQ.Protocol.Control.SettleKind;
using SettleOutcome = LightQ.Protocol.Control.SettleOutcome;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.ClusterTests.Members;

/// <summary>Every node serves every call: what is about a partition is answered by the node that leads it.</summary>
public sealed class ForwardedCallsTests : IAsyncLifetime
{
    private ForwardingCluster _cluster = null!;

    private GrpcChannel[] Channels => [_cluster.AtA, _cluster.AtB];

    public async ValueTask InitializeAsync() => _cluster = await ForwardingCluster.StartAsync();

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task Messages_are_published_to_every_partition_from_any_node()
    {
        await _cluster.SpreadAsync("orders");
        foreach (GrpcChannel channel in Channels)
        {
            for (uint i = 0; i < 4; i++)
            {
                PublishResponse one = await channel.CallAsync<PublishRequest, PublishResponse>(
                    "Publish",
                    new()
                    {
                        Topic = "orders",
                        Partition = i,
                        Messages = { Message("x") },
                    }
                );
                Assert.Equal(i, Assert.Single(one.Positions).Partition);
            }
            var keyed = new PublishRequest { Topic = "orders" };
            for (int i = 0; i < 40; i++)
                keyed.Messages.Add(Message($"{i}", $"key {i}"));
            PublishResponse all = await channel.CallAsync<PublishRequest, PublishResponse>("Publish", keyed);
            Assert.Equal(
                keyed.Messages.Select(m => (uint)KeyRoutingOf(m.Key)),
                all.Positions.Select(position => position.Partition)
            );
            Assert.Equal(4, all.Positions.Select(p => p.Partition).Distinct().Count());
            PublishResponse free = await channel.CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new() { Topic = "orders", Messages = { Message("anywhere") } }
            );
            Assert.Single(free.Positions);
        }
        GetTopicResponse[] known = await Task.WhenAll(
            Channels.Select(c => c.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = "orders" }))
        );
        Assert.Equal(90, known[0].Topic.EndOffsets.Sum());
        Assert.Equal(known[0].Topic.EndOffsets, known[1].Topic.EndOffsets);
        Assert.All(known, k => Assert.Empty(k.Topic.RefusedPartitions));
        foreach (GrpcChannel channel in Channels)
        {
            GetTopicStatsResponse stats = await channel.CallAsync<GetTopicStatsRequest, GetTopicStatsResponse>(
                "GetTopicStats",
                new() { Topic = "orders" }
            );
            Assert.Equal((90ul, 90), (stats.Stats.MessagesReceived, stats.Stats.EndOffset));
            ListTopicStatsResponse list = await channel.CallAsync<ListTopicStatsRequest, ListTopicStatsResponse>(
                "ListTopicStats",
                new()
            );
            Assert.Equal(90ul, Assert.Single(list.Stats).MessagesReceived);
            ListTopicsResponse topics = await channel.CallAsync<ListTopicsRequest, ListTopicsResponse>(
                "ListTopics",
                new()
            );
            Assert.Equal(known[0].Topic.EndOffsets, Assert.Single(topics.Topics).EndOffsets);
            await foreach (
                WatchTopicStatsResponse watched in channel.StreamAsync<WatchTopicStatsRequest, WatchTopicStatsResponse>(
                    "WatchTopicStats",
                    new() { Topic = "orders" },
                    cancellationToken: TestContext.Current.CancellationToken
                )
            )
            {
                Assert.Equal(90ul, watched.Stats.MessagesReceived);
                break;
            }
            await foreach (
                WatchBrokerStatsResponse watched in channel.StreamAsync<
                    WatchBrokerStatsRequest,
                    WatchBrokerStatsResponse
                >(
                    "WatchBrokerStats",
                    new() { Topics = { "orders" } },
                    cancellationToken: TestContext.Current.CancellationToken
                )
            )
            {
                Assert.Equal(90ul, Assert.Single(watched.Topics).MessagesReceived);
                break;
            }
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_group_is_told_of_and_changed_as_a_whole_from_any_node()
    {
        FaultRun.RequireTier("Members of its fetches end after some seconds.");
        Topic topic = await _cluster.SpreadAsync("orders");
        await FillAsync(_cluster.AtA);
        foreach (GrpcChannel channel in Channels)
            Assert.Equal(4, (await DrainAsync(channel, "till", 4)).Count);
        foreach (GrpcChannel channel in Channels)
        {
            ListGroupsResponse list = await channel.CallAsync<ListGroupsRequest, ListGroupsResponse>(
                "ListGroups",
                new()
            );
            Assert.Equal(("till", 0ul), (Assert.Single(list.Groups).Group_, list.Groups[0].Lag));
            Group group = await DescribeAsync(channel);
            Assert.Equal([0u, 1u, 2u, 3u], group.Partitions.Select(p => p.Partition));
            Assert.Equal(8, group.Partitions.Sum(p => p.CommittedOffset));
        }

        await _cluster.AtA.CallAsync<PauseGroupRequest, PauseGroupResponse>("PauseGroup", Named<PauseGroupRequest>());
        Assert.All(
            new[] { _cluster.A, _cluster.B },
            server =>
                Assert.All(
                    server.Broker.Groups.Find(server.Broker.GetTopic("orders"), "till"),
                    g => Assert.True(g.IsPaused)
                )
        );
        ExplainGroupResponse explained = await _cluster.AtB.CallAsync<ExplainGroupRequest, ExplainGroupResponse>(
            "ExplainGroup",
            Named<ExplainGroupRequest>()
        );
        Assert.Equal(
            [0u, 1u, 2u, 3u],
            explained.Reasons.Where(r => r.Hold == GroupHold.Paused).Select(r => r.Partition)
        );
        await _cluster.AtB.CallAsync<ResumeGroupRequest, ResumeGroupResponse>(
            "ResumeGroup",
            Named<ResumeGroupRequest>()
        );
        Assert.False((await DescribeAsync(_cluster.AtA)).Paused);

        ResetGroupRequest reset = new()
        {
            Topic = "orders",
            Group = "till",
            Earliest = true,
        };
        ResetGroupResponse moved = await _cluster.AtA.CallAsync<ResetGroupRequest, ResetGroupResponse>(
            "ResetGroup",
            reset
        );
        Assert.Equal([0L, 0, 0, 0], moved.Offsets);
        reset.Partition = 1;
        reset.Offset = 1;
        moved = await _cluster.AtA.CallAsync<ResetGroupRequest, ResetGroupResponse>("ResetGroup", reset);
        Assert.Equal([1L], moved.Offsets);
        Assert.Equal([0L, 1, 0, 0], (await DescribeAsync(_cluster.AtB)).Partitions.Select(p => p.CommittedOffset));
        await Eventually.TrueAsync(
            () =>
                topic
                    .Partitions.Concat(_cluster.B.Broker.GetTopic("orders").Partitions)
                    .All(p => p.Subscriptions.IsEmpty),
            ForwardingCluster.Patience,
            () => "Members of the fetches stay"
        );
        await _cluster.AtB.CallAsync<DeleteGroupRequest, DeleteGroupResponse>(
            "DeleteGroup",
            Named<DeleteGroupRequest>()
        );
        foreach (GrpcChannel channel in Channels)
        {
            await ControlCalls.FailsAsync(() => DescribeAsync(channel), StatusCode.NotFound, "UnknownGroup");
            ListGroupsResponse none = await channel.CallAsync<ListGroupsRequest, ListGroupsResponse>(
                "ListGroups",
                new() { Topic = "orders" }
            );
            Assert.Empty(none.Groups);
        }
    }

    [Fact]
    public async Task A_group_with_members_on_one_node_is_deleted_on_none()
    {
        await _cluster.SpreadAsync("orders");
        await FillAsync(_cluster.AtA);
        using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> member = await ConsumeAsync(_cluster.AtA, 1);
        await ControlCalls.FailsAsync(
            () =>
                _cluster.AtA.CallAsync<DeleteGroupRequest, DeleteGroupResponse>(
                    "DeleteGroup",
                    Named<DeleteGroupRequest>()
                ),
            StatusCode.FailedPrecondition,
            "GroupInUse"
        );
        Assert.Equal(1u, (await DescribeAsync(_cluster.AtA)).MembersCount);
    }

    [Fact]
    public async Task Streams_are_passed_on_to_the_node_that_leads_the_partition()
    {
        await _cluster.SpreadAsync("orders");
        using AsyncDuplexStreamingCall<PublishStreamRequest, PublishStreamResponse> producer = _cluster.AtB.Duplex<
            PublishStreamRequest,
            PublishStreamResponse
        >("PublishStream");
        await producer.RequestStream.WriteAsync(
            new()
            {
                Open = new OpenProducer
                {
                    Topic = "orders",
                    Partition = 0,
                    ProducerName = "till",
                },
            },
            TestContext.Current.CancellationToken
        );
        Assert.Equal(4u, (await producer.ReadAsync())!.Opened.Partitions);
        for (long i = 0; i < 3; i++)
        {
            await producer.RequestStream.WriteAsync(
                new() { Messages = { Message("x") } },
                TestContext.Current.CancellationToken
            );
            Assert.Equal(i, Assert.Single((await producer.ReadAsync())!.Ack.Positions).Offset);
        }
        await producer.RequestStream.CompleteAsync();
        Assert.Null(await producer.ReadAsync());

        using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> member = await ConsumeAsync(_cluster.AtB, 0);
        DeliveredMessage message = (await member.ReadAsync())!.Delivery.Messages[0];
        await member.RequestStream.WriteAsync(
            new()
            {
                Settle = new Settle
                {
                    Tag = 7,
                    Settlements =
                    {
                        new Settlement
                        {
                            Partition = 0,
                            DeliveryId = message.DeliveryId,
                            FirstOffset = message.Offset,
                            Kind = SettleKind.Complete,
                        },
                    },
                },
            },
            TestContext.Current.CancellationToken
        );
        ConsumeResponse? response;
        do response = await member.ReadAsync();
        while (response!.Settled is null);
        Assert.Equal((7u, SettleOutcome.Done), (response.Settled.Tag, response.Settled.Outcomes[0]));
        ListSubscriptionsResponse open = await _cluster.AtB.CallAsync<
            ListSubscriptionsRequest,
            ListSubscriptionsResponse
        >("ListSubscriptions", new() { Topic = "orders" });
        Assert.Equal(("till", 0u), (Assert.Single(open.Subscriptions).Group, open.Subscriptions[0].Partition));

        using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> all = _cluster.AtA.Duplex<
            ConsumeRequest,
            ConsumeResponse
        >("Consume");
        await all.RequestStream.WriteAsync(
            new()
            {
                Subscribe = new Subscribe { Topic = "orders", Credit = 1 },
            },
            TestContext.Current.CancellationToken
        );
        RpcException spread = await ControlCalls.FailsAsync(
            () => all.ReadAsync(),
            StatusCode.FailedPrecondition,
            "NotLeader"
        );
        Assert.Contains("a leads 0, 2; b leads 1, 3", spread.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stream_of_messages_goes_to_the_leaders_of_their_keys()
    {
        await _cluster.SpreadAsync("orders");
        using AsyncDuplexStreamingCall<PublishStreamRequest, PublishStreamResponse> producer = _cluster.AtB.Duplex<
            PublishStreamRequest,
            PublishStreamResponse
        >("PublishStream");
        await producer.RequestStream.WriteAsync(
            new() { Open = new OpenProducer { Topic = "orders" } },
            TestContext.Current.CancellationToken
        );
        Assert.Equal(4u, (await producer.ReadAsync())!.Opened.Partitions);
        for (int i = 0; i < 3; i++)
        {
            var request = new PublishStreamRequest();
            for (int key = 0; key < 40; key++)
                request.Messages.Add(Message($"{i}", $"key {key}"));
            await producer.RequestStream.WriteAsync(request, TestContext.Current.CancellationToken);
        }
        Dictionary<uint, long> last = [];
        for (int i = 0; i < 3; i++)
        {
            PublishAck ack = (await producer.ReadAsync())!.Ack;
            Assert.Equal(
                Enumerable.Range(0, 40).Select(key => (uint)KeyRoutingOf(ByteString.CopyFromUtf8($"key {key}"))),
                ack.Positions.Select(p => p.Partition)
            );
            foreach (MessagePosition position in ack.Positions)
            {
                Assert.True(position.Offset > last.GetValueOrDefault(position.Partition, -1));
                last[position.Partition] = position.Offset;
            }
        }
        Assert.Equal(4, last.Count);
        await producer.RequestStream.CompleteAsync();
        Assert.Null(await producer.ReadAsync());
    }

    [Fact]
    public async Task A_topic_without_replicas_is_served_from_any_node()
    {
        await _cluster.CreateAsync("bills", new() { Kind = Broker.Topics.TopicKind.Durable, Partitions = 2 });
        for (uint i = 0; i < 2; i++)
        {
            await _cluster.AtB.CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new()
                {
                    Topic = "bills",
                    Partition = i,
                    Messages = { Message("x"), Message("y") },
                }
            );
        }
        TruncateTopicResponse cut = await _cluster.AtB.CallAsync<TruncateTopicRequest, TruncateTopicResponse>(
            "TruncateTopic",
            new()
            {
                Name = "bills",
                Partition = 1,
                BeforeOffset = 1,
            }
        );
        GetTopicResponse known = await _cluster.AtB.CallAsync<GetTopicRequest, GetTopicResponse>(
            "GetTopic",
            new() { Name = "bills" }
        );
        Assert.Equal([2L, 2], known.Topic.EndOffsets);
        Assert.Equal([0L, cut.StartOffset], known.Topic.StartOffsets);
        FetchResponse fetched = await _cluster.AtB.CallAsync<FetchRequest, FetchResponse>(
            "Fetch",
            new()
            {
                Topic = "bills",
                Group = "till",
                MaxMessages = 10,
                Wait = TimeSpan.FromSeconds(10).ToDuration(),
            }
        );
        Assert.NotEmpty(fetched.Messages);
        SettleResponse settled = await _cluster.AtB.CallAsync<SettleRequest, SettleResponse>(
            "Settle",
            Complete("bills", fetched)
        );
        Assert.All(settled.Outcomes, outcome => Assert.Equal(SettleOutcome.Done, outcome));

        await _cluster.A.StopAsync();
        await Eventually.TrueAsync(
            () => _cluster.B.Broker.Replicas.Members!.Find("a") is { IsLive: false },
            ForwardingCluster.Patience,
            () => "b takes a for alive"
        );
        RpcException silent = await ControlCalls.FailsAsync(
            () =>
                _cluster.AtB.CallAsync<GetTopicStatsRequest, GetTopicStatsResponse>(
                    "GetTopicStats",
                    new() { Topic = "bills" }
                ),
            StatusCode.Unavailable,
            "Unavailable"
        );
        Assert.Contains("'a'", silent.Status.Detail, StringComparison.Ordinal);
        known = await _cluster.AtB.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = "bills" });
        Assert.Equal([0u, 1u], known.Topic.RefusedPartitions.Select(p => p.Partition));
    }

    private static PublishedMessage Message(string body, string? key = null)
    {
        var message = new PublishedMessage { Body = ByteString.CopyFromUtf8(body) };
        if (key is not null)
            message.Key = ByteString.CopyFromUtf8(key);
        return message;
    }

    private static int KeyRoutingOf(ByteString key) => LightQ.Protocol.KeyRouting.PartitionOf(key.Span, 4);

    private static TRequest Named<TRequest>()
        where TRequest : IMessage, new()
    {
        var request = new TRequest();
        request.Descriptor.FindFieldByName("topic").Accessor.SetValue(request, "orders");
        request.Descriptor.FindFieldByName("group").Accessor.SetValue(request, "till");
        return request;
    }

    private static async Task<Group> DescribeAsync(GrpcChannel channel) =>
        (
            await channel.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                "DescribeGroup",
                Named<DescribeGroupRequest>()
            )
        ).Group;

    private static SettleRequest Complete(string topic, FetchResponse fetched) =>
        new()
        {
            Topic = topic,
            Settlements =
            {
                fetched.Messages.Select(m => new FetchedSettlement
                {
                    Token = m.SettleToken,
                    Kind = SettleKind.Complete,
                }),
            },
        };

    private static async Task<AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse>> ConsumeAsync(
        GrpcChannel channel,
        uint partition
    )
    {
        AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> call = channel.Duplex<
            ConsumeRequest,
            ConsumeResponse
        >("Consume");
        await call.RequestStream.WriteAsync(
            new()
            {
                Subscribe = new Subscribe
                {
                    Topic = "orders",
                    Partition = partition,
                    Group = "till",
                    SettleMode = GroupSettleMode.Explicit,
                    Credit = 1,
                },
            },
            TestContext.Current.CancellationToken
        );
        Assert.Equal(partition, Assert.Single((await call.ReadAsync())!.Subscribed.Partitions).Partition);
        return call;
    }

    private static async Task FillAsync(GrpcChannel channel)
    {
        for (uint i = 0; i < 4; i++)
        {
            await channel.CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new()
                {
                    Topic = "orders",
                    Partition = i,
                    Messages = { Message("x"), Message("y") },
                }
            );
        }
    }

    private static async Task<List<DeliveredMessage>> DrainAsync(GrpcChannel channel, string group, int count)
    {
        List<DeliveredMessage> messages = [];
        while (messages.Count < count)
        {
            FetchResponse fetched = await channel.CallAsync<FetchRequest, FetchResponse>(
                "Fetch",
                new()
                {
                    Topic = "orders",
                    Group = group,
                    MaxMessages = (uint)(count - messages.Count),
                    Wait = TimeSpan.FromSeconds(30).ToDuration(),
                }
            );
            Assert.NotEmpty(fetched.Messages);
            messages.AddRange(fetched.Messages);
            SettleResponse settled = await channel.CallAsync<SettleRequest, SettleResponse>(
                "Settle",
                Complete("orders", fetched)
            );
            Assert.All(settled.Outcomes, outcome => Assert.Equal(SettleOutcome.Done, outcome));
        }
        return messages;
    }
}
