using System.Globalization;
using System.Text;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using Xunit;
using BrowsedPartition = LightQ.Client.Administration.BrowsedPartition;
using BrowsePosition = LightQ.Client.Administration.BrowsePosition;
using GapReason = LightQ.Client.GapReason;
using MessageEdit = LightQ.Protocol.Control.MessageEdit;
using Topic = LightQ.Broker.Topics.Topic;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Messages;

/// <summary>Browsing what topics hold, and publishing it again.</summary>
public sealed class BrowseTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_durable_topic_is_browsed_from_an_offset_a_time_and_the_end_and_nothing_changes()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable);
        var before = new DateTimeOffset();
        for (int i = 0; i < 25; i++)
        {
            if (i == 20)
            {
                await Task.Delay(20, Cancelled);
                before = DateTimeOffset.UtcNow;
            }
            await PublishAsync(client, $"body {i}", i % 5 == 0 ? "five" : null);
        }

        Assert.Equal(Bodies(0, 25), await BrowseAsync(client, new() { PageSize = 7 }));
        Assert.Equal(Bodies(17, 25), await BrowseAsync(client, new() { Start = StartPosition.Offset(17) }));
        Assert.Equal(Bodies(20, 25), await BrowseAsync(client, new() { Start = StartPosition.Time(before) }));
        Assert.Empty(await BrowseAsync(client, new() { Start = StartPosition.Time(before.AddYears(1)) }));
        Assert.Equal(Bodies(22, 25), await BrowseAsync(client, new() { Last = 3, PageSize = 2 }));
        Assert.Equal(Bodies(0, 25), await BrowseAsync(client, new() { Last = long.MaxValue }));
        Assert.Empty(await BrowseAsync(client, new() { Start = StartPosition.Offset(long.MaxValue) }));
        Assert.Equal(
            ["body 0", "body 5", "body 10", "body 15", "body 20"],
            await BrowseAsync(client, new() { Key = "five", PageSize = 2 })
        );
        Assert.Empty(await BrowseAsync(client, new() { Key = "six" }));

        BrowsePage page = await client.Messages.BrowsePageAsync(
            "orders",
            new BrowseOptions { Start = StartPosition.Offset(3), PageSize = 4 },
            cancellationToken: Cancelled
        );
        Assert.Equal((new BrowsePosition(0, 7), false), (page.Next, page.IsLast));
        Assert.Equal([new BrowsedPartition(0, 0, 25)], page.Partitions);
        Assert.Empty(await client.Groups.ListAsync("orders", Cancelled));
        Assert.Empty(await client.Stats.ListSubscriptionsAsync("orders", Cancelled));
    }

    [Fact]
    public async Task A_message_is_shown_with_everything_and_its_body_in_parts()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable);
        byte[] large = [.. Enumerable.Range(0, 900_000).Select(i => (byte)(i * 7))];
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            await producer.PublishAsync(
                large,
                new PublishOptions { MessageId = "id-1", TimeToLive = TimeSpan.FromHours(1) },
                key: "42",
                headers: new MessageHeaders { { "origin", "shop" } },
                cancellationToken: Cancelled
            );
        }
        var options = new BrowseOptions { MaxBodyBytes = 100, BodyOffset = 500_000 };
        StoredMessage found = Assert.Single(
            (await client.Messages.BrowsePageAsync("orders", options, cancellationToken: Cancelled)).Messages
        );
        Assert.Equal(large[500_000..500_100], found.Body.ToArray());
        Assert.Equal((900_000L, "id-1"), (found.BodySize, found.MessageId));
        Assert.Equal("42", Encoding.UTF8.GetString(found.Key!.Value.Span));
        Assert.Equal([("origin", "shop")], found.Headers.Select(h => (h.Key, Encoding.UTF8.GetString(h.Value.Span))));
        Assert.InRange(found.Size, 900_012, 900_100);
        Assert.NotNull(found.ExpiresAt);
        Assert.NotNull(found.PublishTime);
        Assert.Equal(StoredMessageState.Delivered, found.State);
        options = new BrowseOptions { MaxBodyBytes = 0, BodyOffset = long.MaxValue };
        found = Assert.Single(
            (await client.Messages.BrowsePageAsync("orders", options, cancellationToken: Cancelled)).Messages
        );
        Assert.Equal((0, 900_000L), (found.Body.Length, found.BodySize));
    }

    [Fact]
    public async Task Pages_are_bounded_in_bytes()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable);
        for (int i = 0; i < 6; i++)
            await PublishAsync(client, new string('x', 400_000));
        var options = new BrowseOptions { MaxBodyBytes = 1024 * 1024, PageSize = 1000 };
        BrowsePage page = await client.Messages.BrowsePageAsync("orders", options, cancellationToken: Cancelled);
        Assert.Equal((3, false, 3L), (page.Messages.Count, page.IsLast, page.Next.Offset));
        page = await client.Messages.BrowsePageAsync("orders", options, page.Next, Cancelled);
        Assert.Equal((3, true, 6L), (page.Messages.Count, page.IsLast, page.Next.Offset));
        await PublishAsync(client, "later");
        page = await client.Messages.BrowsePageAsync("orders", options, page.Next, Cancelled);
        Assert.Equal(("later", true), (Text(Assert.Single(page.Messages)), page.IsLast));
    }

    [Fact]
    public async Task A_search_for_a_key_goes_on_where_one_call_has_read_enough()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable);
        byte[] body = new byte[500_000];
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            for (int i = 0; i < 80; i++)
                await producer.PublishAsync(body, key: i == 75 ? "here" : "there", cancellationToken: Cancelled);
        }
        var options = new BrowseOptions { Key = "here", MaxBodyBytes = 0 };
        BrowsePage page = await client.Messages.BrowsePageAsync("orders", options, cancellationToken: Cancelled);
        Assert.Empty(page.Messages);
        Assert.False(page.IsLast);
        Assert.InRange(page.Scanned, 60, 70);
        Assert.Equal(page.Scanned, page.Next.Offset);
        page = await client.Messages.BrowsePageAsync("orders", options, page.Next, Cancelled);
        Assert.Equal((75L, true), (Assert.Single(page.Messages).Offset, page.IsLast));
    }

    [Fact]
    public async Task Compressed_delayed_and_expired_messages_are_shown()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable);
        await using (
            Producer producer = await client.CreateProducerAsync(
                "orders",
                new ProducerOptions { Compression = LightQ.Client.BatchCodec.Brotli },
                Cancelled
            )
        )
        {
            await Task.WhenAll(
                Enumerable
                    .Range(0, 20)
                    .Select(i =>
                        producer
                            .PublishAsync(Encoding.UTF8.GetBytes($"the same body {i}"), cancellationToken: Cancelled)
                            .AsTask()
                    )
            );
            await producer.PublishAsync(
                "soon over"u8.ToArray(),
                new PublishOptions { TimeToLive = TimeSpan.FromMilliseconds(1) },
                cancellationToken: Cancelled
            );
            await producer.PublishAsync(
                "much later"u8.ToArray(),
                new PublishOptions { Delay = TimeSpan.FromHours(1) },
                cancellationToken: Cancelled
            );
        }
        await Task.Delay(50, Cancelled);
        StoredMessage[] found = await ListAsync(client, new());
        Assert.Equal(Enumerable.Range(0, 20).Select(i => $"the same body {i}"), found[..20].Select(Text));
        Assert.Equal(
            [("soon over", StoredMessageState.Expired), ("much later", StoredMessageState.Delayed)],
            found[20..].Select(m => (Text(m), m.State))
        );
        Assert.True(found[21].DeliverAt > DateTimeOffset.UtcNow.AddMinutes(50));
    }

    [Fact]
    public async Task A_transient_topic_shows_what_its_ring_still_holds()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "ticks", TopicKind.Transient);
        await PublishAsync(client, "first", topic: "ticks");
        BrowsePage page = await client.Messages.BrowsePageAsync("ticks", cancellationToken: Cancelled);
        Assert.Equal(["first"], page.Messages.Select(Text));
        for (int i = 0; i < 30; i++)
            await PublishAsync(client, new string('x', 600_000), topic: "ticks");
        await PublishAsync(client, "last", topic: "ticks");

        page = await client.Messages.BrowsePageAsync("ticks", null, page.Next, Cancelled);
        MessageGap gap = Assert.Single(page.Gaps);
        Assert.Equal((1L, GapReason.Dropped), (gap.FirstOffset, gap.Reason));
        Assert.Equal(gap.LastOffset + 1, page.Messages[0].Offset);
        StoredMessage[] held = await ListAsync(client, new(), "ticks");
        Assert.Equal("last", Text(held[^1]));
        Assert.Equal(Enumerable.Range((int)held[0].Offset, held.Length), held.Select(m => (int)m.Offset));
        Assert.Equal(["last"], (await ListAsync(client, new() { Last = 1 }, "ticks")).Select(Text));
        await client.Topics.DeleteAsync("ticks", Cancelled);
        LightQException gone = await Assert.ThrowsAsync<LightQException>(() =>
            client.Messages.BrowsePageAsync("ticks", null, page.Next, Cancelled)
        );
        Assert.Equal(LightQ.Client.ErrorCode.UnknownTopic, gone.Code);
    }

    [Fact]
    public async Task Partitions_come_one_after_the_other_and_a_key_from_its_own()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, Partitions = 3 },
            Cancelled
        );
        for (int i = 0; i < 12; i++)
            await PublishAsync(client, $"body {i}", topic: $"orders/{i % 3}");
        await PublishAsync(client, "keyed", "42");

        StoredMessage[] all = await ListAsync(client, new() { PageSize = 5 });
        Assert.Equal(all.OrderBy(m => m.Partition).ThenBy(m => m.Offset), all);
        Assert.Equal(13, all.Length);
        Assert.Equal(6, (await ListAsync(client, new() { Last = 2 })).Length);
        StoredMessage keyed = Assert.Single(await ListAsync(client, new() { Key = "42" }));
        Assert.Equal("keyed", Text(keyed));
        Assert.Equal(
            ["body 1", "body 4", "body 7", "body 10"],
            (await ListAsync(client, new(), "orders/1")).Select(Text).Where(t => t != "keyed")
        );
        Assert.Empty(await ListAsync(client, new() { Key = "42", Partition = (keyed.Partition + 1) % 3 }));
    }

    [Fact]
    public async Task What_is_damaged_or_removed_is_a_gap()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using (LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable))
        {
            for (int i = 0; i < 3; i++)
                await PublishAsync(client, $"body {i}");
        }
        Topic topic = server.Broker.GetTopic("orders");
        await server.RestartAsync(() =>
        {
            string file = Directory
                .GetFiles(Path.Combine(server.Directory, "topics", topic.Id.ToString("N"), "0"), "*.seg")
                .Order(StringComparer.Ordinal)
                .First();
            const int FirstBatch = 4096,
                InPayload = 100;
            byte[] bytes = File.ReadAllBytes(file);
            int second = FirstBatch + BitConverter.ToInt32(bytes, FirstBatch);
            bytes[second + InPayload] ^= 1;
            File.WriteAllBytes(file, bytes);
        });
        await using var again = new LightQClient(server.ConnectionString);
        BrowsePage page = await again.Messages.BrowsePageAsync("orders", cancellationToken: Cancelled);
        Assert.Equal(["body 0", "body 2"], page.Messages.Select(Text));
        Assert.Equal([new MessageGap("orders", 1, 1, GapReason.Corrupt)], page.Gaps);
        await again.Topics.TruncateAsync("orders", 2, cancellationToken: Cancelled);
        page = await again.Messages.BrowsePageAsync("orders", null, new BrowsePosition(0, 0), Cancelled);
        Assert.Equal([new MessageGap("orders", 0, 1, GapReason.Retention)], page.Gaps);
        Assert.Equal(["body 2"], page.Messages.Select(Text));
        Assert.Equal((true, 3L), (page.IsLast, page.Next.Offset));
    }

    [Fact]
    public async Task What_is_outside_its_range_is_rejected()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("empty", LightQ.Broker.Topics.TopicKind.Durable);
        await Task.Run(
            () =>
                server.Broker.CreateTopic(
                    "wide",
                    new() { Partitions = 2, Kind = LightQ.Broker.Topics.TopicKind.Durable }
                ),
            Cancelled
        );
        BrowseResponse none = await CallAsync(server, new() { Topic = "empty" });
        Assert.Equal((0, 0L, true), (none.Messages.Count, none.Next.Offset, none.AtEnd));
        Assert.True((await CallAsync(server, new() { Topic = "empty", Last = ulong.MaxValue })).AtEnd);
        Assert.True((await CallAsync(server, new() { Topic = "empty", BodyOffset = ulong.MaxValue })).AtEnd);
        foreach (
            (BrowseRequest request, string code, string problem) in new (BrowseRequest, string, string)[]
            {
                (new() { Topic = "nowhere" }, "UnknownTopic", "There is no topic 'nowhere'"),
                (new() { Topic = "empty", Partition = 7 }, "UnknownPartition", "allowed: 0 to 0"),
                (new() { Topic = "empty", Offset = -1 }, "InvalidArgument", "offset is -1; allowed: 0 or more."),
                (new() { Topic = "wide", Offset = 5 }, "InvalidArgument", "has 2 partitions"),
                (new() { Topic = "empty", Last = 0 }, "InvalidArgument", "last is 0; allowed: 1 or more."),
                (
                    new()
                    {
                        Topic = "empty",
                        Time = new Timestamp { Seconds = long.MaxValue },
                    },
                    "InvalidArgument",
                    "allowed: a normal protobuf timestamp."
                ),
                (
                    new() { Topic = "empty", MaxMessages = 1001 },
                    "InvalidArgument",
                    "max_messages is 1001; allowed: 1 to"
                ),
                (
                    new() { Topic = "empty", MaxBodyBytes = uint.MaxValue },
                    "InvalidArgument",
                    "max_body_bytes is 4294967295; allowed: 0 to 1048576."
                ),
                (
                    new()
                    {
                        Topic = "empty",
                        Next = new() { Offset = -5 },
                    },
                    "InvalidArgument",
                    "next.offset is -5; allowed: 0 or more."
                ),
                (
                    new()
                    {
                        Topic = "empty",
                        Next = new() { Partition = 3 },
                    },
                    "UnknownPartition",
                    "allowed: 0 to 0"
                ),
                (
                    new()
                    {
                        Topic = "wide",
                        Partition = 0,
                        Next = new() { Partition = 1 },
                    },
                    "InvalidArgument",
                    "next.partition is 1"
                ),
            }
        )
        {
            RpcException error = await ControlCalls.FailsAsync(
                () => CallAsync(server, request),
                code is "UnknownTopic" or "UnknownPartition" ? StatusCode.NotFound : StatusCode.InvalidArgument,
                code
            );
            Assert.Contains(problem, error.Status.Detail, StringComparison.Ordinal);
        }
        Assert.True(
            (
                await CallAsync(
                    server,
                    new()
                    {
                        Topic = "empty",
                        Next = new() { Offset = long.MaxValue },
                    }
                )
            ).AtEnd
        );
    }

    [Fact]
    public async Task A_message_is_published_again_as_it_was_or_edited()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable);
        await client.Topics.CreateAsync(
            new TopicSpec("other") { Kind = TopicKind.Durable, MaxMessageBytes = 4 * 1024 * 1024 },
            Cancelled
        );
        byte[] large = [.. Enumerable.Range(0, 1_000_000).Select(i => (byte)(i * 3))];
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            await producer.PublishAsync(
                large,
                new PublishOptions { MessageId = "id-1" },
                key: "42",
                headers: new MessageHeaders { { "origin", "shop" }, { "content-type", "text/plain" } },
                cancellationToken: Cancelled
            );
        }
        RepublishResult copied = await client.Messages.RepublishAsync("orders", 0, 0, cancellationToken: Cancelled);
        Assert.Equal(("orders", 0, 1L, false), (copied.Topic, copied.Partition, copied.Offset, copied.IsDuplicate));
        RepublishResult edited = await client.Messages.RepublishAsync(
            "orders",
            0,
            0,
            new()
            {
                Body = "fixed"u8.ToArray(),
                RemoveKey = true,
                RemoveHeaders = ["origin"],
                Headers = new MessageHeaders { { "content-type", "text/html" }, { "fixed-by", "alice" } },
                MessageId = "id-2",
            },
            "other",
            Cancelled
        );
        Assert.Equal(("other", 0L), (edited.Topic, edited.Offset));

        StoredMessage[] orders = await ListAsync(client, new() { MaxBodyBytes = 1024 * 1024 });
        Assert.Equal(large, orders[1].Body.ToArray());
        Assert.Equal(orders[0].Key!.Value.ToArray(), orders[1].Key!.Value.ToArray());
        Assert.Equal(Headers(orders[0]), Headers(orders[1]));
        Assert.Equal(orders[0].Size, orders[1].Size);
        Assert.Null(orders[1].MessageId);
        StoredMessage other = Assert.Single(await ListAsync(client, new(), "other"));
        Assert.Equal(("fixed", "id-2"), (Text(other), other.MessageId));
        Assert.Null(other.Key);
        Assert.Equal([("content-type", "text/html"), ("fixed-by", "alice")], Headers(other));
    }

    [Fact]
    public async Task What_cannot_be_published_again_says_why()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server, "orders", TopicKind.Durable);
        await PublishAsync(client, "only one");
        foreach ((long offset, string problem) in new[] { (1L, "up to 1"), (long.MaxValue, "up to 1") })
        {
            LightQException missing = await Assert.ThrowsAsync<LightQException>(() =>
                client.Messages.RepublishAsync("orders", 0, offset, cancellationToken: Cancelled)
            );
            Assert.Equal(LightQ.Client.ErrorCode.InvalidArgument, missing.Code);
            Assert.Contains(problem, missing.Message, StringComparison.Ordinal);
        }
        foreach (
            (RepublishRequest request, string problem) in new (RepublishRequest, string)[]
            {
                (new() { Offset = -1 }, "offset is -1"),
                (
                    new()
                    {
                        Edit = new() { Key = ByteString.Empty, RemoveKey = true },
                    },
                    "edit has a key and remove_key"
                ),
                (new() { Edit = new() { Headers = { new MessageHeader() } } }, "edit.headers[0]"),
                (new() { Edit = new() { MessageId = new string('x', 129) } }, "message_id"),
                (new() { Edit = new MessageEdit { Delay = new Duration { Seconds = -1 } } }, "delay"),
            }
        )
        {
            request.Topic = "orders";
            RpcException error = await ControlCalls.FailsAsync(
                () => server.Control.CallAsync<RepublishRequest, RepublishResponse>("Republish", request),
                StatusCode.InvalidArgument,
                "InvalidArgument"
            );
            Assert.Contains(problem, error.Status.Detail, StringComparison.Ordinal);
        }
        Assert.Single(await ListAsync(client, new()));
    }

    private static async Task<LightQClient> ClientAsync(TestServer server, string topic, TopicKind kind)
    {
        var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec(topic) { Kind = kind }, Cancelled);
        return client;
    }

    private static async Task PublishAsync(
        LightQClient client,
        string body,
        string? key = null,
        string topic = "orders"
    )
    {
        await using Producer producer = await client.CreateProducerAsync(topic, cancellationToken: Cancelled);
        await producer.PublishAsync(Encoding.UTF8.GetBytes(body), key: key, cancellationToken: Cancelled);
    }

    private static Task<BrowseResponse> CallAsync(TestServer server, BrowseRequest request) =>
        server.Control.CallAsync<BrowseRequest, BrowseResponse>("Browse", request);

    private static async Task<StoredMessage[]> ListAsync(
        LightQClient client,
        BrowseOptions options,
        string topic = "orders"
    )
    {
        var found = new List<StoredMessage>();
        await foreach (StoredMessage message in client.Messages.BrowseAsync(topic, options, Cancelled))
            found.Add(message);
        return [.. found];
    }

    private static async Task<IEnumerable<string>> BrowseAsync(LightQClient client, BrowseOptions options) =>
        (await ListAsync(client, options)).Select(Text);

    private static IEnumerable<string> Bodies(int first, int end) =>
        Enumerable.Range(first, end - first).Select(i => string.Create(CultureInfo.InvariantCulture, $"body {i}"));

    private static string Text(StoredMessage message) => Encoding.UTF8.GetString(message.Body.Span);

    private static IEnumerable<(string Name, string Value)> Headers(StoredMessage message) =>
        message.Headers.Select(h => (h.Key, Encoding.UTF8.GetString(h.Value.Span)));
}
