using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// Messages that are published now and delivered later: once, in the order in which they are due, whatever happens to
/// the broker meanwhile.
/// </summary>
public sealed class DelayedDeliveryTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly ManualTime _time = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(BatchCodec.None)]
    [InlineData(BatchCodec.Brotli)]
    public async Task Delayed_messages_come_when_they_are_due_and_hold_nothing_up(BatchCodec codec)
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using LightQClient client = await ConnectAsync(server);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            new ProducerOptions { Compression = codec, CompressionMinimumBytes = 0 },
            Cancelled
        );
        await using var messages = Consume(client);
        Assert.Equal(0, (await PublishAsync(producer, "ten aaaaaaaaaaaaaaaaaaaa", 10)).Offset);
        await PublishAsync(producer, "five", 5);
        await PublishAsync(producer, "now", 0);
        Assert.Equal("2 now", await NextAsync(messages));
        Assert.Equal(2, (await client.Stats.GetTopicAsync("t", Cancelled)).DelayedMessages);

        _time.Advance(TimeSpan.FromSeconds(5.1));
        Assert.Equal("3 five", await NextAsync(messages));
        Assert.Equal(1, (await client.Stats.GetTopicAsync("t", Cancelled)).DelayedMessages);
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal("4 ten aaaaaaaaaaaaaaaaaaaa", await NextAsync(messages));
        Assert.Equal(0, (await client.Stats.GetTopicAsync("t", Cancelled)).DelayedMessages);
        Assert.Equal(["2 now", "3 five", "4 ten aaaaaaaaaaaaaaaaaaaa"], await AllAsync(client, 3));
    }

    /// <summary>Of what lies in memory too: a damaged message is not appended anew, and those behind it come.</summary>
    [Fact]
    public async Task A_message_that_was_damaged_while_it_waited_is_a_gap_and_holds_up_no_other()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using LightQClient client = await ConnectAsync(server);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        await PublishAsync(producer, "lost", 5);
        await PublishAsync(producer, "kept", 6);
        string segment = Directory
            .GetFiles(Path.Combine(server.Directory, "topics"), "*.seg", SearchOption.AllDirectories)
            .Order(StringComparer.Ordinal)
            .First();
        using (FileStream file = new(segment, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite))
        {
            byte[] start = new byte[8 * 1024];
            file.ReadExactly(start);
            file.Position = start.AsSpan().IndexOf("lost"u8);
            file.WriteByte((byte)'L');
        }
        var gaps = new List<MessageGap>();
        await using var messages = client
            .ConsumeAsync("t", new ConsumeOptions { Start = StartPosition.Earliest, OnGap = gaps.Add }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        _time.Advance(TimeSpan.FromSeconds(7));

        Assert.True(await messages.MoveNextAsync());
        Assert.Equal((2L, "kept"), (messages.Current.Offset, messages.Current.GetText()));
        Assert.Equal([new MessageGap("t", 0, 0, GapReason.Corrupt)], gaps);
        Assert.Equal(0, (await client.Stats.GetTopicAsync("t", Cancelled)).DelayedMessages);
    }

    [Fact]
    public async Task Messages_that_wait_survive_a_stop_and_overdue_ones_come_at_once_and_once()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using (LightQClient client = await ConnectAsync(server))
        {
            await using Producer producer = await client.CreateProducerAsync(
                "t",
                new ProducerOptions { Name = "p" },
                Cancelled
            );
            for (int i = 0; i < 20; i++)
                await PublishAsync(producer, $"{20 - i}", 20 - i);
        }
        await server.RestartAsync(() => _time.Advance(TimeSpan.FromSeconds(10.5)));
        await using (var again = new LightQClient(server.ConnectionString))
        {
            await using var messages = Consume(again);
            for (int i = 1; i <= 10; i++)
                Assert.Equal($"{19 + i} {i}", await NextAsync(messages));
            // The producer's numbers go on where they were: a delivery is nobody's.
            await using Producer producer = await again.CreateProducerAsync(
                "t",
                new ProducerOptions { Name = "p" },
                Cancelled
            );
            Assert.Equal(30, (await PublishAsync(producer, "now", 0)).Offset);
            Assert.Equal("30 now", await NextAsync(messages));
        }
        await server.RestartAsync();
        await using (var last = new LightQClient(server.ConnectionString))
        {
            Assert.Equal(10, (await last.Stats.GetTopicAsync("t", Cancelled)).DelayedMessages);
            _time.Advance(TimeSpan.FromSeconds(15));
            List<string> all = await AllAsync(last, 21);
            Assert.Equal(
                [
                    .. Enumerable.Range(1, 10).Select(i => $"{19 + i} {i}"),
                    "30 now",
                    .. Enumerable.Range(11, 10).Select(i => $"{20 + i} {i}"),
                ],
                all
            );
        }
    }

    [Fact]
    public async Task A_broker_that_is_killed_delivers_each_message_once()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        using var before = new TemporaryDirectory();
        using var after = new TemporaryDirectory();
        await using (LightQClient client = await ConnectAsync(server))
        {
            await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
            await PublishAsync(producer, "one", 1);
            await PublishAsync(producer, "two", 2);
            DataDirectory.CopyAsKilled(server.Directory, before.Path);
            await using var messages = Consume(client);
            _time.Advance(TimeSpan.FromSeconds(1.1));
            Assert.Equal("2 one", await NextAsync(messages));
            DataDirectory.CopyAsKilled(server.Directory, after.Path);
        }
        _time.Advance(TimeSpan.FromSeconds(5));
        foreach (string directory in (string[])[before.Path, after.Path])
        {
            await using TestServer recovered = await TestServer.StartAsync(directory, _time);
            await using var client = new LightQClient(recovered.ConnectionString);
            Assert.Equal(["2 one", "3 two"], await AllAsync(client, 2));
            Assert.Equal((4, 0), await StateAsync(client));
        }

        static async Task<(long, long)> StateAsync(LightQClient client)
        {
            TopicStats stats = await client.Stats.GetTopicAsync("t", Cancelled);
            return (stats.EndOffset, stats.DelayedMessages);
        }
    }

    [Fact]
    public async Task Retention_removes_what_is_around_a_message_that_waits_and_it_comes_once_when_it_is_due()
    {
        const int Others = 5000;
        await using TestServer server = await TestServer.StartAsync(o => o with { TimeProvider = _time });
        server.Broker.CreateTopic(
            "t",
            new TopicSettings
            {
                Kind = LightQ.Broker.Topics.TopicKind.Durable,
                MaxMessageBytes = 1024,
                SegmentBytes = 4 * (1024 + ProtocolLimits.BatchOverheadBytes),
                RetentionBytes = 1,
            }
        );
        long StartOffset() => server.Broker.GetTopic("t").Partitions[0].Log.StartOffset;
        await using (
            var client = new LightQClient(
                LightQClientOptions.Parse(server.ConnectionString) with
                {
                    TimeProvider = _time,
                }
            )
        )
        {
            await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
            await PublishAsync(producer, "later", 3600);
            for (int i = 0; i < Others; i++)
            {
                while (!producer.TryPublish(new byte[1000]))
                    await producer.WaitForRoomAsync(Cancelled);
            }
            await producer.FlushAsync(Cancelled);
        }
        // Housekeeping goes by the broker's clock.
        await Eventually.TrueAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromMilliseconds(20));
                return StartOffset() > 0;
            },
            Patience,
            () => "Retention waits for the message."
        );
        await server.RestartAsync();
        await using var after = new LightQClient(server.ConnectionString);
        TopicStats stats = await after.Stats.GetTopicAsync("t", Cancelled);
        Assert.Equal((1, true), (stats.DelayedMessages, stats.StartOffset > 0));
        await using var messages = Consume(after, StartPosition.Latest);
        ValueTask<bool> coming = messages.MoveNextAsync();
        await Eventually.TrueAsync(
            async () => (await after.Stats.ListSubscriptionsAsync("t", Cancelled)).Count == 1,
            Patience,
            () => "no subscription"
        );
        _time.Advance(TimeSpan.FromHours(1));
        Assert.True(await coming.AsTask().WaitAsync(Patience, Cancelled));
        Assert.Equal("later", messages.Current.GetText());
        stats = await after.Stats.GetTopicAsync("t", Cancelled);
        Assert.Equal((0, messages.Current.Offset + 1), (stats.DelayedMessages, stats.EndOffset));
    }

    [Fact]
    public async Task A_transient_topic_refuses_them_and_says_why()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Transient }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        LightQException e = await Assert.ThrowsAsync<LightQException>(() => PublishAsync(producer, "later", 1));
        Assert.Equal(ErrorCode.NotSupported, e.Code);
        Assert.Contains("transient", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task More_than_may_wait_and_more_than_a_year_are_refused()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = _time,
                Broker = o.Broker with { MaxDelayedBatches = 2 },
            }
        );
        await using LightQClient client = await ConnectAsync(server);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        await PublishAsync(producer, "a", 1);
        await PublishAsync(producer, "b", 1000);
        LightQException full = await Assert.ThrowsAsync<LightQException>(() => PublishAsync(producer, "c", 1));
        Assert.Equal((ErrorCode.ResourceExhausted, true), (full.Code, full.IsTransient));
        _time.Advance(TimeSpan.FromSeconds(2));
        await using var messages = Consume(client);
        Assert.Equal("2 a", await NextAsync(messages));
        await PublishAsync(producer, "c", 1);

        var late = new PublishOptions { DeliverAt = _time.GetUtcNow() + TimeSpan.FromDays(366) };
        LightQException e = await Assert.ThrowsAsync<LightQException>(async () =>
            await producer.PublishAsync("x"u8.ToArray(), late, cancellationToken: Cancelled)
        );
        Assert.Equal(ErrorCode.InvalidArgument, e.Code);
        Assert.Throws<ArgumentOutOfRangeException>(() => new PublishOptions { Delay = TimeSpan.FromDays(366) });
    }

    private static IAsyncEnumerator<Message> Consume(LightQClient client, StartPosition? start = null) =>
        client
            .ConsumeAsync(
                "t",
                new ConsumeOptions { Start = start ?? StartPosition.Earliest, GapAction = GapAction.Throw }
            )
            .GetAsyncEnumerator(Cancelled);

    private static async Task<string> NextAsync(IAsyncEnumerator<Message> messages)
    {
        Assert.True(await messages.MoveNextAsync().AsTask().WaitAsync(Patience, Cancelled));
        return $"{messages.Current.Offset} {messages.Current.GetText()}";
    }

    private static async Task<List<string>> AllAsync(LightQClient client, int count)
    {
        var all = new List<string>();
        await using IAsyncEnumerator<Message> messages = Consume(client);
        while (all.Count < count)
            all.Add(await NextAsync(messages));
        return all;
    }

    private async Task<LightQClient> ConnectAsync(TestServer server)
    {
        var client = new LightQClient(LightQClientOptions.Parse(server.ConnectionString) with { TimeProvider = _time });
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable }, Cancelled);
        return client;
    }

    private static async Task<PublishAck> PublishAsync(Producer producer, string text, int seconds) =>
        await producer
            .PublishAsync(
                System.Text.Encoding.UTF8.GetBytes(text),
                new PublishOptions { Delay = TimeSpan.FromSeconds(seconds) },
                cancellationToken: Cancelled
            )
            .AsTask()
            .WaitAsync(Patience, Cancelled);
}
