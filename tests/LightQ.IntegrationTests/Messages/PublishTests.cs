using System.Text;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Records;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using MessageHeader = LightQ.Protocol.Control.MessageHeader;
using Partition = LightQ.Broker.Topics.Partition;
using PublishAck = LightQ.Protocol.Control.PublishAck;
using Topic = LightQ.Broker.Topics.Topic;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.Messages;

public sealed class PublishTests
{
    public static TheoryData<string, object, StatusCode, string, string> Refusals =>
        new()
        {
            { "topic", Spoil(r => r.Topic = "nowhere"), StatusCode.NotFound, "UnknownTopic", "nowhere" },
            { "partition", Spoil(r => r.Partition = 1), StatusCode.NotFound, "UnknownPartition", "partition 1" },
            {
                "no messages",
                Spoil(r => r.Messages.Clear()),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "messages is empty"
            },
            {
                "ack level",
                Spoil(r => r.AckLevel = DurabilityLevel.Fsync),
                StatusCode.InvalidArgument,
                "NotSupported",
                "transient"
            },
            {
                "no such ack level",
                Spoil(r => r.AckLevel = (DurabilityLevel)9),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "ack_level is 9"
            },
            {
                "too large",
                Spoil(r => r.Messages[1].Body = ByteString.CopyFrom(new byte[70_000])),
                StatusCode.InvalidArgument,
                "MessageTooLarge",
                "messages[1] has 70000 bytes of key, headers and body; the topic takes 65536"
            },
            {
                "header name",
                Spoil(r => r.Messages[1].Headers.Add(new MessageHeader())),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "messages[1] has a header whose name has 0 bytes"
            },
            {
                "headers",
                Spoil(r =>
                    r.Messages[0]
                        .Headers.Add(new MessageHeader { Name = "n", Value = ByteString.CopyFrom(new byte[65_532]) })
                ),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "headers of 65536 bytes"
            },
            {
                "key",
                Spoil(r => r.Messages[0].Key = ByteString.CopyFrom(new byte[65_535])),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "key of 65535 bytes"
            },
            {
                "tombstone with a body",
                Spoil(r => (r.Messages[1].Tombstone, r.Messages[1].Key) = (true, ByteString.Empty)),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "tombstone"
            },
            {
                "tombstone without a key",
                Spoil(r => (r.Messages[1].Tombstone, r.Messages[1].Body) = (true, ByteString.Empty)),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "tombstone"
            },
            {
                "time to live",
                Spoil(r => r.Messages[1].TimeToLive = new Duration()),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "time_to_live"
            },
            {
                "no duration",
                Spoil(r => r.Messages[1].Delay = new Duration { Seconds = long.MaxValue }),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "delay"
            },
            {
                "no time",
                Spoil(r => r.Messages[1].DeliverTime = new Timestamp { Nanos = -1 }),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "deliver_time"
            },
            {
                "two times",
                Spoil(r =>
                    (r.Messages[1].Delay, r.Messages[1].DeliverTime) = (new Duration { Seconds = 1 }, new Timestamp())
                ),
                StatusCode.InvalidArgument,
                "InvalidArgument",
                "one of them"
            },
            {
                "delay on a transient topic",
                Spoil(r => r.Messages[0].Delay = new Duration { Seconds = 1 }),
                StatusCode.InvalidArgument,
                "NotSupported",
                "transient"
            },
        };

    [Fact]
    public async Task A_stream_that_finds_no_room_for_what_it_collects_ends_with_that()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = o.DataPlane with { MaxAssemblyBytes = 300_000 },
            }
        );
        server.Broker.CreateTopic("t", new TopicSettings { Partitions = 8 });
        (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "t" });
        using PublishStream held = stream;
        // The request has room; the partitions' batches, which double as they grow, have none together.
        string body = new('x', 7_500);
        await stream.WriteAsync([.. Enumerable.Range(0, 16).Select(i => PublishStream.Text(body, key: $"key {i}"))]);
        RpcException ended = await Assert.ThrowsAsync<RpcException>(stream.ReadAsync);
        Assert.Equal(StatusCode.ResourceExhausted, ended.StatusCode);
        Assert.Contains("DataPlane:MaxAssemblyBytes", ended.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_is_published_is_what_the_SDK_consumes()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        PublishResponse published = await PublishAsync(
            server,
            "orders",
            new PublishedMessage
            {
                Key = ByteString.CopyFromUtf8("42"),
                Body = ByteString.CopyFromUtf8("first"),
                Headers =
                {
                    new MessageHeader { Name = "origin", Value = ByteString.CopyFromUtf8("shop") },
                    new MessageHeader { Id = 3, Value = ByteString.CopyFromUtf8("text/plain") },
                },
            },
            new PublishedMessage { Key = ByteString.Empty, Tombstone = true },
            new PublishedMessage()
        );
        Assert.Equal([0, 1, 2], published.Positions.Select(p => p.Offset));
        Assert.Equal(DurabilityLevel.Fsync, published.Durability);

        await using var client = new LightQClient(server.ConnectionString);
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("orders", new() { Start = StartPosition.Earliest }, TestContext.Current.CancellationToken)
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal(
            ("first", "42", "shop"),
            (
                messages.Current.GetText(),
                Encoding.UTF8.GetString(messages.Current.Key.Span),
                HeaderOf(messages.Current, "origin")
            )
        );
        Assert.Equal("text/plain", HeaderOf(messages.Current, WellKnownHeader.ContentType));
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal(
            (true, true, 0),
            (messages.Current.IsTombstone, messages.Current.HasKey, messages.Current.Key.Length)
        );
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal(
            (false, false, 0),
            (messages.Current.IsTombstone, messages.Current.HasKey, messages.Current.Body.Length)
        );
    }

    [Fact]
    public async Task Keys_choose_partitions_unless_the_request_does()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("clicks", new TopicSettings { Partitions = 4 });
        PublishedMessage[] keyed = [.. Enumerable.Range(0, 20).Select(i => PublishStream.Text("x", $"key-{i}"))];
        PublishResponse routed = await PublishAsync(server, "clicks", keyed);
        Assert.Equal(
            keyed.Select(m => (uint)KeyRouting.PartitionOf(m.Key.Span, 4)),
            routed.Positions.Select(p => p.Partition)
        );
        Assert.All(
            routed.Positions.GroupBy(p => p.Partition),
            p => Assert.Equal(Enumerable.Range(0, p.Count()).Select(i => (long)i), p.Select(m => m.Offset))
        );

        PublishResponse bound = await server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new()
            {
                Topic = "clicks",
                Partition = 1,
                Messages = { keyed },
            }
        );
        Assert.All(bound.Positions, p => Assert.Equal(1u, p.Partition));
        PublishResponse together = await PublishAsync(
            server,
            "clicks",
            PublishStream.Text("a"),
            PublishStream.Text("b")
        );
        Assert.Single(together.Positions.Select(p => p.Partition).Distinct());
    }

    private static object Spoil(Action<PublishRequest> spoil) => spoil;

    [Theory]
    [MemberData(nameof(Refusals))]
    public async Task A_refusal_says_why_and_stores_nothing(
        string what,
        object spoil,
        StatusCode status,
        string code,
        string says
    )
    {
        Assert.NotEmpty(what);
        await using TestServer server = await TestServer.StartAsync();
        Topic topic = await server.CreateTopicAsync("orders", maxMessageBytes: 65_536);
        var request = new PublishRequest
        {
            Topic = "orders",
            Messages = { PublishStream.Text("one"), PublishStream.Text("two") },
        };
        ((Action<PublishRequest>)spoil)(request);
        RpcException refused = await ControlCalls.FailsAsync(
            () => server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request),
            status,
            code
        );
        Assert.Contains(says, refused.Status.Detail, StringComparison.Ordinal);
        Assert.Equal(0, topic.Partitions[0].Log.EndOffset);
    }

    [Fact]
    public async Task A_stream_acknowledges_each_request_in_order()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("clicks", new TopicSettings { Partitions = 3 });
        (PublishStream stream, ProducerOpened opened) = await PublishStream.OpenAsync(
            server,
            new OpenProducer { Topic = "clicks" }
        );
        using PublishStream owned = stream;
        Assert.Equal(
            (3u, DurabilityLevel.Memory, 1024ul * 1024, 0ul),
            (opened.Partitions, opened.AckLevel, opened.MaxMessageBytes, opened.NextSequence)
        );
        for (int i = 0; i < 2000; i++)
            await stream.WriteAsync(PublishStream.Text("a", $"{i}"), PublishStream.Text("b"));
        await stream.EndAsync();
        var seen = new HashSet<(uint, long)>();
        for (int i = 0; i < 2000; i++)
        {
            PublishAck ack = (await stream.ReadAsync())!.Ack;
            Assert.Equal(2, ack.Positions.Count);
            Assert.Equal((uint)KeyRouting.PartitionOf(Encoding.UTF8.GetBytes($"{i}"), 3), ack.Positions[0].Partition);
            Assert.All(ack.Positions, p => Assert.True(seen.Add((p.Partition, p.Offset))));
        }
        Assert.Null(await stream.ReadAsync());
        Assert.Equal(4000, server.Broker.GetTopic("clicks").Partitions.Sum(p => p.Log.EndOffset));
    }

    [Theory]
    [InlineData("delayed", false, "NotSupported")]
    [InlineData("delayed", true, "NotSupported")]
    [InlineData("long", false, "MessageTooLarge")]
    [InlineData("long", true, "MessageTooLarge")]
    [InlineData("id", false, "InvalidArgument")]
    [InlineData("life", true, "InvalidArgument")]
    public async Task What_a_topic_does_not_take_of_a_stream_is_refused_alone(string what, bool isKeyed, string code)
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("orders", new TopicSettings { MaxMessageBytes = 65_536, Partitions = 2 });
        (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
        using PublishStream owned = stream;
        PublishedMessage refused = PublishStream.Text(
            new string('x', what == "long" ? 65_537 : 1),
            isKeyed ? "k" : null
        );
        refused.Delay = what == "delayed" ? Duration.FromTimeSpan(TimeSpan.FromSeconds(1)) : null;
        refused.TimeToLive = what == "life" ? new Duration() : null;
        refused.MessageId = what == "id" ? new string('i', 1000) : "";
        await stream.WriteAsync(PublishStream.Text("0", "a"));
        await stream.WriteAsync(PublishStream.Text("1", "a"), refused, PublishStream.Text("2", "a"));
        await stream.WriteAsync(refused);
        await stream.WriteAsync(PublishStream.Text("3", "a"));
        await stream.EndAsync();

        Assert.Equal([0], await stream.ReadOffsetsAsync());
        PublishRefused around = (await stream.ReadAsync())!.Refused;
        Assert.Equal((1u, code), (around.Refused.Single().Index, around.Refused.Single().Code));
        Assert.Contains("messages[1]", around.Refused.Single().Message, StringComparison.Ordinal);
        Assert.Equal([1, 2], new[] { around.Positions[0].Offset, around.Positions[2].Offset });
        PublishRefused alone = (await stream.ReadAsync())!.Refused;
        Assert.Equal((0u, code), (alone.Refused.Single().Index, alone.Refused.Single().Code));
        Assert.Equal([3], await stream.ReadOffsetsAsync());
        Assert.Null(await stream.ReadAsync());
        Assert.Equal(4, server.Broker.GetTopic("orders").Partitions.Sum(p => p.Log.EndOffset));
    }

    [Fact]
    public async Task The_numbers_of_a_named_stream_go_on_over_what_is_refused_also_when_it_is_sent_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic topic = await server.CreateTopicAsync("orders", maxMessageBytes: 65_536);
        PublishedMessage refused = PublishStream.Text(new string('x', 65_537));
        for (int time = 0; time < 2; time++)
        {
            (PublishStream stream, _) = await PublishStream.OpenAsync(
                server,
                new OpenProducer { Topic = "orders", ProducerName = "p" }
            );
            using PublishStream owned = stream;
            await stream.WriteAsync(0, PublishStream.Text("0"), refused, PublishStream.Text("1"));
            await stream.WriteAsync(2, PublishStream.Text("2"));
            Assert.Equal([0, 1], (await stream.ReadAsync())!.Refused.Positions.Select(p => p.Offset).Distinct());
            Assert.Equal([2], await stream.ReadOffsetsAsync());
            await stream.EndAsync();
            Assert.Null(await stream.ReadAsync());
        }
        Assert.Equal(3, topic.Partitions[0].Log.EndOffset);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_delay_may_have_exactly_the_longest_time(bool streams)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        PublishedMessage longest = PublishStream.Text("x"),
            longer = PublishStream.Text("x");
        longest.Delay = Duration.FromTimeSpan(ProtocolLimits.LongestDelay);
        longer.Delay = Duration.FromTimeSpan(ProtocolLimits.LongestDelay + TimeSpan.FromTicks(10));
        if (streams)
        {
            (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
            using PublishStream owned = stream;
            await stream.WriteAsync(longest);
            await stream.WriteAsync(longer);
            Assert.Equal([0], await stream.ReadOffsetsAsync());
            Assert.Equal("InvalidArgument", (await stream.ReadAsync())!.Refused.Refused.Single().Code);
            return;
        }
        PublishResponse stored = await server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new PublishRequest { Topic = "orders", Messages = { longest } }
        );
        Assert.Equal(0, stored.Positions.Single().Offset);
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<PublishRequest, PublishResponse>(
                    "Publish",
                    new PublishRequest { Topic = "orders", Messages = { longer } }
                ),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
    }

    [Fact]
    public async Task A_stream_begins_with_open_and_has_one()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using var first = new PublishStream(server);
        await first.WriteAsync(PublishStream.Text("too early"));
        await ControlCalls.FailsAsync(first.ReadAsync, StatusCode.InvalidArgument, "InvalidArgument");
        using var none = new PublishStream(server);
        await none.EndAsync();
        await ControlCalls.FailsAsync(none.ReadAsync, StatusCode.InvalidArgument, "InvalidArgument");
        (PublishStream again, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
        using PublishStream owned = again;
        await again.WriteAsync(new PublishStreamRequest { Open = new OpenProducer { Topic = "orders" } });
        await ControlCalls.FailsAsync(again.ReadAsync, StatusCode.InvalidArgument, "InvalidArgument");
        (PublishStream unnamed, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
        using PublishStream ownedToo = unnamed;
        await unnamed.WriteAsync(0, PublishStream.Text("x"));
        await ControlCalls.FailsAsync(unnamed.ReadAsync, StatusCode.InvalidArgument, "InvalidArgument");
    }

    [Fact]
    public async Task A_named_producer_goes_on_where_it_was_and_stores_nothing_twice()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic topic = await server.CreateTopicAsync("orders", TopicKind.Durable);
        var open = new OpenProducer { Topic = "orders", ProducerName = "till-1" };
        (PublishStream first, ProducerOpened fresh) = await PublishStream.OpenAsync(server, open);
        using PublishStream ownedFirst = first;
        Assert.Equal(0ul, fresh.NextSequence);
        await first.WriteAsync(0, PublishStream.Text("a"), PublishStream.Text("b"));
        await first.WriteAsync(PublishStream.Text("c"));
        Assert.Equal([0, 1], await first.ReadOffsetsAsync());
        Assert.Equal([2], await first.ReadOffsetsAsync());

        (PublishStream second, ProducerOpened later) = await PublishStream.OpenAsync(server, open);
        using PublishStream ownedSecond = second;
        Assert.Equal(3ul, later.NextSequence);
        await second.WriteAsync(0, PublishStream.Text("a"), PublishStream.Text("b"));
        Assert.Equal([0, 1], await second.ReadOffsetsAsync());
        await second.WriteAsync(3, PublishStream.Text("d"));
        Assert.Equal([3], await second.ReadOffsetsAsync());
        await first.WriteAsync(PublishStream.Text("x"));
        await ControlCalls.FailsAsync(first.ReadAsync, StatusCode.Aborted, "Fenced");
        await second.WriteAsync(9, PublishStream.Text("hole"));
        await ControlCalls.FailsAsync(second.ReadAsync, StatusCode.FailedPrecondition, "OutOfOrder");
        Assert.Equal(4, topic.Partitions[0].Log.EndOffset);
    }

    [Fact]
    public async Task A_named_producer_with_more_requests_than_may_be_unacknowledged_is_held_back_and_not_refused()
    {
        const int Requests = ProtocolLimits.UnacknowledgedBatches + 500;
        using var synced = new ManualResetEventSlim(initialState: true);
        var files = new FaultyFileSystem(PlatformFileSystem.Choose())
        {
            Before = (operation, path) =>
            {
                if (operation == "sync" && path.Contains(".seg", StringComparison.Ordinal))
                    Assert.True(synced.Wait(TimeSpan.FromSeconds(60)), "The test has ended.");
            },
        };
        await using TestServer server = await TestServer.StartAsync(options =>
            options with
            {
                Broker = options.Broker with
                {
                    OpenEnvironment = environment => new JournalEnvironment(environment, files),
                },
            }
        );
        Topic topic = await server.CreateTopicAsync("orders", TopicKind.Durable);
        (PublishStream stream, _) = await PublishStream.OpenAsync(
            server,
            new OpenProducer { Topic = "orders", ProducerName = "till-1" }
        );
        using PublishStream owned = stream;
        synced.Reset(); // No ack comes.
        Task writing = Task.Run(
            async () =>
            {
                for (int i = 0; i < Requests; i++)
                    await stream.WriteAsync(PublishStream.Text("x"));
            },
            TestContext.Current.CancellationToken
        );
        await Eventually.TrueAsync(
            () => topic.Partitions[0].Log.EndOffset == ProtocolLimits.UnacknowledgedBatches,
            TimeSpan.FromSeconds(60),
            () => $"{topic.Partitions[0].Log.EndOffset} are stored"
        );
        synced.Set();
        for (int i = 0; i < Requests; i++)
            Assert.Equal([i], await stream.ReadOffsetsAsync());
        await writing;
    }

    [Fact]
    public async Task A_named_producer_is_of_one_partition()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("clicks", new TopicSettings { Partitions = 2 });
        using var open = new PublishStream(server);
        await open.WriteAsync(
            new PublishStreamRequest
            {
                Open = new OpenProducer { Topic = "clicks", ProducerName = "till-1" },
            }
        );
        await ControlCalls.FailsAsync(open.ReadAsync, StatusCode.InvalidArgument, "InvalidArgument");
        (PublishStream bound, _) = await PublishStream.OpenAsync(
            server,
            new OpenProducer
            {
                Topic = "clicks",
                ProducerName = "till-1",
                Partition = 1,
            }
        );
        using PublishStream owned = bound;
        await bound.WriteAsync(PublishStream.Text("x", "any key"));
        Assert.Equal(1u, (await bound.ReadAsync())!.Ack.Positions[0].Partition);
    }

    [Fact]
    public async Task Streams_that_the_client_resets_at_any_moment_are_no_fault_of_the_servers()
    {
        await using TestServer server = await TestServer.StartAsync(); // Its end throws what a call has thrown.
        Partition partition = (await server.CreateTopicAsync("ticks")).Partitions[0];
        for (int i = 0; i < 100; i++)
        {
            (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "ticks" });
            await stream.WriteAsync(PublishStream.Text("x"));
            stream.Dispose();
        }
        await Eventually.TrueAsync(
            () => partition.Producers.IsEmpty,
            TimeSpan.FromSeconds(20),
            () => "producers stay open"
        );
    }

    [Fact]
    public async Task A_stream_waits_while_its_topic_is_full()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Broker.CreateTopic("ticks", new TopicSettings { RingBytes = 512 * 1024, MaxMessageBytes = 32 * 1024 });
        using ConsumeStream consumer = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "ticks",
                SlowTimeout = new Duration { Seconds = 60 },
            }
        );
        (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "ticks" });
        using PublishStream owned = stream;
        const int Count = 1000; // 16 MB: more than ring, window and the buffers of both ends hold.
        Task writing = Task.Run(
            async () =>
            {
                for (int i = 0; i < Count; i++)
                    await stream.WriteAsync(PublishStream.Text(new string('x', 16 * 1024)));
                await stream.EndAsync();
            },
            TestContext.Current.CancellationToken
        );
        Topic topic = server.Broker.GetTopic("ticks");
        await Eventually.TrueAsync(
            () => topic.Partitions[0].Log.EndOffset >= 10,
            TimeSpan.FromSeconds(30),
            () => "nothing is published"
        );
        Assert.InRange(topic.Partitions[0].Log.EndOffset, 10, 32);
        await consumer.GrantAsync(Count);
        DeliveredMessage[] messages = await consumer.NextAsync(Count);
        Assert.Equal(Enumerable.Range(0, Count).Select(i => (long)i), messages.Select(m => m.Offset));
        for (int i = 0; i < Count; i++)
            Assert.Equal(new long[] { i }, await stream.ReadOffsetsAsync());
        await writing;
        Assert.Null(await stream.ReadAsync());
    }

    [Fact]
    public async Task The_deletion_of_the_topic_ends_a_stream()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
        using PublishStream owned = stream;
        await server.Broker.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        await ControlCalls.FailsAsync(stream.ReadAsync, StatusCode.NotFound, "TopicDeleted");
    }

    [Fact]
    public async Task A_stop_ends_a_stream_behind_the_acknowledgements_of_what_was_taken()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
        using PublishStream owned = stream;
        await stream.WriteAsync(PublishStream.Text("a"));
        Assert.Equal([0], await stream.ReadOffsetsAsync());
        Task stopped = server.Server.StopAsync();
        await ControlCalls.FailsAsync(stream.ReadAsync, StatusCode.Unavailable, "ShuttingDown");
        await stopped;
    }

    [Fact]
    public async Task A_stream_that_never_pauses_ends_at_a_stop_and_what_it_was_told_is_stored()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        (PublishStream stream, _) = await PublishStream.OpenAsync(server, new OpenProducer { Topic = "orders" });
        using PublishStream owned = stream;
        var some = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task writing = Task.Run(
            async () =>
            {
                while (true)
                    await stream.WriteAsync(PublishStream.Text("a"), PublishStream.Text("b"));
            },
            TestContext.Current.CancellationToken
        );
        Task<long> reading = Task.Run(
            async () =>
            {
                long last = -1;
                try
                {
                    while (true)
                    {
                        last = (await stream.ReadOffsetsAsync()).Last();
                        some.TrySetResult();
                    }
                }
                catch (RpcException e)
                {
                    Assert.True(e.StatusCode == StatusCode.Unavailable, e.ToString());
                    return last;
                }
            },
            TestContext.Current.CancellationToken
        );
        await some.Task.WaitAsync(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
        await server.Server.StopAsync(); // Before its channel goes, which ends calls, too.
        await server.RestartAsync(() =>
            Assert.True(
                reading.IsCompleted || reading.Wait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken)
            )
        );
        long stored = server.Broker.GetTopic("orders").Partitions[0].Log.EndOffset;
        Assert.InRange(await reading, 1, stored - 1);
        await Assert.ThrowsAnyAsync<Exception>(() => writing);
    }

    [Fact]
    public async Task A_request_larger_than_the_frame_limit_is_refused_before_it_is_read()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        RpcException refused = await Assert.ThrowsAsync<RpcException>(() =>
            PublishAsync(server, "orders", new PublishedMessage { Body = ByteString.CopyFrom(new byte[5 << 20]) })
        );
        Assert.Equal(StatusCode.ResourceExhausted, refused.StatusCode);
    }

    private static string HeaderOf(Message message, string name) =>
        message.TryGetHeader(name, out ReadOnlySpan<byte> value) ? Encoding.UTF8.GetString(value) : "";

    private static string HeaderOf(Message message, byte id)
    {
        foreach (HeaderView header in message.Headers)
        {
            if (header.WellKnownId == id)
                return Encoding.UTF8.GetString(header.Value);
        }
        return "";
    }

    private static Task<PublishResponse> PublishAsync(
        TestServer server,
        string topic,
        params PublishedMessage[] messages
    ) =>
        server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new() { Topic = topic, Messages = { messages } }
        );
}
