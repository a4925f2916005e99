using LightQ.Client;
using LightQ.Client.Publishing;
using Xunit;
using Order = LightQ.IntegrationTests.Docs.Order;
using ShopJson = LightQ.IntegrationTests.Docs.ShopJson;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// Publishing to a topic by its name, with producers that the client opens, keeps, replaces and closes.
/// </summary>
public sealed class SharedProducerTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly ConsumeOptions FromTheStart = new() { Start = StartPosition.Earliest };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Bytes_text_and_values_arrive_with_what_goes_with_them()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        var headers = new MessageHeaders { { "origin", "shop" } };
        var order = new Order("42", 9.99m);

        Assert.Equal(
            0,
            (
                await client.PublishAsync(
                    "orders",
                    "span"u8,
                    "k",
                    headers,
                    new PublishOptions { MessageId = "one" },
                    Cancel
                )
            ).Offset
        );
        Assert.Equal(1, (await client.PublishAsync("orders", "array"u8.ToArray(), cancellationToken: Cancel)).Offset);
        Assert.Equal(
            2,
            (
                await client.PublishAsync("orders/0", new Memory<byte>("memory"u8.ToArray()), cancellationToken: Cancel)
            ).Offset
        );
        Assert.Equal(3, (await client.PublishAsync("orders", "text", key: "k", cancellationToken: Cancel)).Offset);
        Assert.Equal(4, (await client.PublishAsync("orders", order, cancellationToken: Cancel)).Offset);
        Assert.Equal(
            5,
            (
                await client.PublishAsync(
                    "orders",
                    order,
                    new JsonMessageSerializer<Order>(ShopJson.Default.Order),
                    "k",
                    headers,
                    cancellationToken: Cancel
                )
            ).Offset
        );

        var messages = new List<Message>();
        await foreach (Message message in client.ConsumeAsync("orders", FromTheStart, Cancel))
        {
            messages.Add(message);
            if (messages.Count == 6)
                break;
        }
        Assert.Equal(["span", "array", "memory", "text"], messages.Take(4).Select(message => message.GetText()));
        Assert.Equal((true, "one", null), (messages[0].HasKey, messages[0].MessageId, ContentType(messages[0])));
        Assert.Equal(
            ("text/plain; charset=utf-8", "application/json"),
            (ContentType(messages[3]), ContentType(messages[4]))
        );
        Assert.True(
            messages[5].TryGetHeader("origin", out ReadOnlySpan<byte> origin) && origin.SequenceEqual("shop"u8)
        );
        await foreach (
            Message<Order> message in client.ConsumeAsync<Order>(
                "orders",
                new() { Start = StartPosition.Offset(4) },
                Cancel
            )
        )
        {
            Assert.Equal(order, message.Value);
            if (message.Raw.Offset == 5)
                break;
        }
    }

    [Fact]
    public async Task Publishes_at_the_same_time_share_a_producer()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using var client = new LightQClient(server.ConnectionString);
        PublishAck[] acks = await Task.WhenAll(
            Enumerable
                .Range(0, 500)
                .Select(i =>
                    Task.Run(() => client.PublishAsync("orders", $"{i}", cancellationToken: Cancel).AsTask(), Cancel)
                )
        );
        Assert.Equal(Enumerable.Range(0, 500).Select(i => (long)i), acks.Select(ack => ack.Offset).Order());
        Assert.Equal(1, (await client.Stats.GetTopicAsync("orders", Cancel)).PublishersCount);
    }

    [Fact]
    public async Task A_refusal_is_not_remembered()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        Assert.Equal(ErrorCode.UnknownTopic, await RefusalAsync(client, "orders"));
        await server.CreateTopicAsync("orders");
        Assert.Equal(0, (await client.PublishAsync("orders", "x"u8, cancellationToken: Cancel)).Offset);
        await Assert.ThrowsAsync<ArgumentNullException>(async () =>
            await client.PublishAsync(null!, "x"u8, cancellationToken: Cancel)
        );
        await Assert.ThrowsAsync<ArgumentException>(async () =>
            await client.PublishAsync("no topic", "x"u8, cancellationToken: Cancel)
        );
    }

    [Fact]
    public async Task A_topic_that_was_made_again_gets_another_producer()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        for (int i = 0; i < 3; i++)
        {
            await server.CreateTopicAsync("orders");
            Assert.Equal(0, (await client.PublishAsync("orders", "x"u8, cancellationToken: Cancel)).Offset);
            await client.Topics.DeleteAsync("orders", Cancel);
            // The producer hears of it by itself, and then every publish asks anew.
            await Eventually.TrueAsync(
                async () => await RefusalAsync(client, "orders") == ErrorCode.UnknownTopic,
                Patience,
                () => "the topic is still known"
            );
        }
    }

    [Fact]
    public async Task More_topics_than_are_kept_lose_nothing()
    {
        const int Kept = 8,
            Topics = 40;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient($"{server.ConnectionString}&producers={Kept}");
        for (int i = 0; i < Topics; i++)
            await server.CreateTopicAsync($"t{i}");
        for (int round = 0; round < 2; round++)
        {
            PublishAck[] acks = await Task.WhenAll(
                Enumerable
                    .Range(0, Topics)
                    .Select(i => client.PublishAsync($"t{i}", "x"u8, cancellationToken: Cancel).AsTask())
            );
            Assert.All(acks, ack => Assert.Equal(round, ack.Offset));
        }
        await Eventually.TrueAsync(
            async () =>
                (await client.Stats.ListConnectionsAsync(Cancel)).Sum(connection => connection.PublishersCount) <= Kept,
            Patience,
            () => "producers that were given up are still open"
        );
    }

    [Fact]
    public async Task Every_publish_is_stored_once_while_producers_are_given_up_on_all_sides()
    {
        const int Topics = 12,
            Rounds = 60,
            Callers = 4;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient($"{server.ConnectionString}&producers=2");
        for (int i = 0; i < Topics; i++)
            await server.CreateTopicAsync($"t{i}");
        await Task.WhenAll(
            Enumerable
                .Range(0, Callers)
                .Select(caller =>
                    Task.Run(
                        async () =>
                        {
                            var random = new Random(caller);
                            for (int i = 0; i < Rounds; i++)
                            {
                                // Some at once on different topics, some cancelled while they wait for the opening.
                                int topic = random.Next(Topics);
                                Task<PublishAck> first = client
                                    .PublishAsync($"t{topic}", "x"u8, cancellationToken: Cancel)
                                    .AsTask();
                                using var cancelled = new CancellationTokenSource();
                                ValueTask<PublishAck> second = client.PublishAsync(
                                    $"t{(topic + 1) % Topics}",
                                    "cancelled"u8,
                                    "k",
                                    cancellationToken: cancelled.Token
                                );
                                await cancelled.CancelAsync();
                                try
                                {
                                    await second;
                                }
                                catch (OperationCanceledException) { }
                                await first;
                            }
                        },
                        Cancel
                    )
                )
        );
        long stored = 0;
        for (int i = 0; i < Topics; i++)
        {
            long end = (await client.Stats.GetTopicAsync($"t{i}", Cancel)).EndOffset;
            await foreach (Message message in client.ConsumeAsync($"t{i}", FromTheStart, Cancel))
            {
                stored += message.HasKey ? 0 : 1;
                if (message.Offset == end - 1)
                    break;
            }
        }
        Assert.Equal(Callers * Rounds, stored);
    }

    [Fact]
    public async Task The_order_of_one_caller_holds_over_producers_that_are_given_up()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient($"{server.ConnectionString}&producers=1");
        string[] topics = ["a", "b", "c"];
        foreach (string topic in topics)
            await server.CreateTopicAsync(topic);
        var acks = topics.ToDictionary(topic => topic, _ => new List<Task<PublishAck>>());
        for (int i = 0; i < 300; i++)
        {
            string topic = topics[i / 10 % 3];
            acks[topic].Add(client.PublishAsync(topic, $"{i}", cancellationToken: Cancel).AsTask());
            if (i % 30 == 29)
                await Task.WhenAll(acks.Values.SelectMany(of => of));
        }
        foreach (List<Task<PublishAck>> of in acks.Values)
            Assert.Equal(Enumerable.Range(0, 100).Select(i => (long)i), (await Task.WhenAll(of)).Select(a => a.Offset));
    }

    [Fact]
    public async Task What_is_published_as_the_producer_opens_overtakes_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int round = 0; round < 10; round++)
        {
            await server.CreateTopicAsync($"t{round}");
            await using var client = new LightQClient(server.ConnectionString);
            long[] offsets = await UnawaitedPublishes.OffsetsAsync(
                i => client.PublishAsync($"t{round}", $"{i}", cancellationToken: Cancel),
                Patience
            );
            Assert.Equal(offsets.Order(), offsets);
        }
    }

    [Fact]
    public async Task Producers_that_are_given_up_as_they_open_leave_their_messages_to_the_next_in_order()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using var client = new LightQClient(server.ConnectionString);
        int opened = 0;
        await using var producers = new SharedProducers(
            async (topic, cancellationToken) =>
            {
                Producer producer = await client.CreateProducerAsync(topic, null, cancellationToken);
                if (opened++ < 3)
                    await producer.DisposeAsync();
                return producer;
            },
            mostKept: 1
        );
        long[] offsets = await UnawaitedPublishes.OffsetsAsync(
            i => producers.PublishAsync("orders", [(byte)i], default, null, default, Cancel),
            Patience
        );
        Assert.Equal(Enumerable.Range(0, offsets.Length).Select(i => (long)i), offsets);
        Assert.Equal(4, opened);
    }

    [Fact]
    public async Task What_a_caller_changes_after_it_published_is_not_sent()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        byte[] body = [1],
            key = [1];
        var headers = new MessageHeaders { { "before", "1" } };
        ValueTask<PublishAck> publishing = client.PublishAsync(
            "orders",
            body.AsMemory(),
            key,
            headers,
            cancellationToken: Cancel
        );
        (body[0], key[0]) = (2, 2);
        headers.Add("after", "2");
        await publishing;
        await foreach (Message message in client.ConsumeAsync("orders", FromTheStart, Cancel))
        {
            Assert.Equal((1, 1), (message.Body.Span[0], message.Key.Span[0]));
            Assert.True(message.TryGetHeader("before", out _));
            Assert.False(message.TryGetHeader("after", out _));
            break;
        }
    }

    [Fact]
    public async Task Where_the_broker_takes_no_more_streams_idle_producers_make_room()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = o.DataPlane with { MaxStreams = 3 },
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        for (int i = 0; i < 10; i++)
            await server.CreateTopicAsync($"t{i}");
        for (int i = 0; i < 20; i++)
        {
            PublishAck ack = await client.PublishAsync($"t{i % 10}", "x"u8, cancellationToken: Cancel);
            Assert.Equal(i / 10, ack.Offset);
        }
    }

    [Fact]
    public async Task A_refused_message_leaves_the_producer_to_the_others()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using var client = new LightQClient(server.ConnectionString);
        int ended = 0;
        client.ProducerEnded += (_, _) => ended++;
        for (int i = 0; i < 3; i++)
        {
            Task<PublishAck> beside = client.PublishAsync("orders", "x"u8, cancellationToken: Cancel).AsTask();
            LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
                await client.PublishAsync(
                    "orders",
                    "later"u8,
                    options: new PublishOptions { Delay = TimeSpan.FromDays(365) },
                    cancellationToken: Cancel
                )
            );
            Assert.Equal(ErrorCode.NotSupported, refused.Code);
            Assert.Equal(i, (await beside).Offset);
        }
        Assert.Equal(0, ended);
    }

    [Fact]
    public async Task Disposing_the_client_while_producers_are_opened_and_given_up_ends_every_publish()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 20; i++)
            await server.CreateTopicAsync($"t{i}");
        for (int round = 0; round < 5; round++)
        {
            var client = new LightQClient($"{server.ConnectionString}&producers=3");
            Task[] publishing =
            [
                .. Enumerable
                    .Range(0, 20)
                    .Select(i =>
                        Task.Run(
                            async () =>
                            {
                                for (int n = 0; n < 1000; n++)
                                    await client.PublishAsync($"t{(i + n) % 20}", "x"u8, cancellationToken: Cancel);
                            },
                            Cancel
                        )
                    ),
            ];
            await client.PublishAsync("t0", "x"u8, cancellationToken: Cancel);
            await client.DisposeAsync().AsTask().WaitAsync(Patience, Cancel);
            foreach (Task task in publishing)
            {
                Exception? error = await Record.ExceptionAsync(() => task.WaitAsync(Patience, Cancel));
                Assert.True(
                    error is null or ObjectDisposedException or LightQException { Code: ErrorCode.Closed },
                    error?.ToString()
                );
            }
        }
    }

    [Fact]
    public async Task The_producers_end_with_the_client_and_their_messages_are_stored()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        var client = new LightQClient(server.ConnectionString);
        await client.PublishAsync("orders", "0"u8, cancellationToken: Cancel);
        Task<PublishAck>[] publishing =
        [
            .. Enumerable
                .Range(1, 100)
                .Select(i => client.PublishAsync("orders", $"{i}", cancellationToken: Cancel).AsTask()),
        ];
        await client.DisposeAsync();
        Assert.Equal(100, (await Task.WhenAll(publishing)).Max(ack => ack.Offset));
        foreach (string topic in (string[])["orders", "another"])
        {
            await Assert.ThrowsAsync<ObjectDisposedException>(async () =>
                await client.PublishAsync(topic, "x"u8, cancellationToken: Cancel)
            );
        }
    }

    [Fact]
    public async Task Either_token_ends_an_enumeration()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using var client = new LightQClient(server.ConnectionString);
        foreach (bool isStreams in (bool[])[true, false])
        {
            using var streams = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
            using var own = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
            var subscribed = new TaskCompletionSource();
            var options = new ConsumeOptions { OnSubscribed = _ => subscribed.TrySetResult() };
            Task consuming = Task.Run(
                async () =>
                {
                    await foreach (
                        Message _ in client.ConsumeAsync("orders", options, streams.Token).WithCancellation(own.Token)
                    )
                    {
                        Assert.Fail("there is no message");
                    }
                },
                Cancel
            );
            await subscribed.Task.WaitAsync(Patience, Cancel);
            await (isStreams ? streams : own).CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => consuming.WaitAsync(Patience, Cancel));
        }
    }

    private static async Task<ErrorCode> RefusalAsync(LightQClient client, string topic)
    {
        try
        {
            await client.PublishAsync(topic, "x"u8, cancellationToken: Cancel);
            return ErrorCode.None;
        }
        catch (LightQException e)
        {
            return e.Code;
        }
    }

    private static string? ContentType(Message message) =>
        message.TryGetHeader("content-type", out ReadOnlySpan<byte> value)
            ? System.Text.Encoding.UTF8.GetString(value)
            : null;
}
