using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>Slow policies as a client meets them: what is refused, what the broker shows, and how it ends.</summary>
public sealed class SlowPolicyTests
{
    private const int RingBytes = 512 * 1024;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Theory]
    [InlineData(
        "",
        SlowPolicy.Block,
        499u,
        ErrorCode.InvalidArgument,
        "The slow-consumer time-out is 499 ms; allowed: 0 (the broker's default) or 500 to 86400000."
    )]
    [InlineData(
        "",
        SlowPolicy.DropOldest,
        86_400_001u,
        ErrorCode.InvalidArgument,
        "The slow-consumer time-out is 86400001 ms"
    )]
    [InlineData(
        "workers",
        SlowPolicy.DropOldest,
        0u,
        ErrorCode.NotSupported,
        "A group's slow-consumer policy is block"
    )]
    [InlineData(
        "workers",
        SlowPolicy.SpillToDisk,
        0u,
        ErrorCode.NotSupported,
        "A group's slow-consumer policy is block"
    )]
    public async Task What_cannot_be_is_refused_by_name(
        string group,
        SlowPolicy policy,
        uint timeout,
        ErrorCode code,
        string message
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);

        await client.SendAsync(
            new SubscribeFrame(
                "t",
                0,
                group,
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                SettleMode.Automatic,
                policy,
                0,
                SlowTimeoutMilliseconds: timeout
            ),
            1,
            4
        );

        (FrameHeader header, byte[] body) = await client.ReadAsync();
        Assert.Equal((FrameType.Closed, 4u), (header.Type, header.Tag));
        ClosedFrame closed = FrameCodec.Read<ClosedFrame>(body);
        Assert.Equal(code, closed.Code);
        Assert.StartsWith(message, closed.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_consumer_that_was_ended_as_slow_gets_what_was_sent_and_then_the_reason()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var log = new RecordedLog();
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                LoggerFactory = log,
            }
        );
        await CreateAsync(client, SlowPolicy.Disconnect); // The topic's default holds.
        var subscribed = new TaskCompletionSource();
        var options = new ConsumeOptions
        {
            CreditBytes = 1024,
            Start = StartPosition.Earliest,
            OnSubscribed = _ => subscribed.TrySetResult(),
        };
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("t", options, TestContext.Current.CancellationToken)
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        ValueTask<bool> first = messages.MoveNextAsync();
        await subscribed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        await PublishAsync(client, 200);

        Assert.True(await first);
        long next = 1;
        LightQException end = await Assert.ThrowsAsync<LightQException>(async () =>
        {
            while (await messages.MoveNextAsync())
                Assert.Equal(next++, messages.Current.Offset);
        });

        Assert.Equal(ErrorCode.SlowConsumer, end.Code);
        Assert.False(end.IsTransient);
        Assert.StartsWith($"messages {next} to ", end.Message, StringComparison.Ordinal);
        Assert.Contains(
            log.Lines,
            l =>
                l.Level == LogLevel.Error
                && l.Message.StartsWith(
                    "The broker ended the subscription to t, which was too slow: messages ",
                    StringComparison.Ordinal
                )
        );
    }

    [Fact]
    public async Task The_broker_shows_policy_backlog_and_drops_of_a_subscription_and_a_stop_leaves_no_file()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await CreateAsync(client, SlowPolicy.SpillToDisk);
        await using RawClient spilling = await RawClient.ConnectAsync(server.DataPort),
            dropping = await RawClient.ConnectAsync(server.DataPort);
        await spilling.SubscribeAsync("t", 1, credit: 0);
        await dropping.SubscribeAsync("t", 1, credit: 1, slow: SlowPolicy.DropOldest);
        await PublishAsync(client, 200);
        await dropping.SendAsync(new CreditFrame(uint.MaxValue), 1);
        GapFrame gap = FrameCodec.Read<GapFrame>(await dropping.ReadAsync(FrameType.Gap));

        IReadOnlyList<SubscriptionInfo> subscriptions = await client.Stats.ListSubscriptionsAsync(
            "t",
            TestContext.Current.CancellationToken
        );

        Assert.Equal([SlowPolicy.SpillToDisk, SlowPolicy.DropOldest], subscriptions.Select(s => s.SlowPolicy));
        Assert.Equal([0, gap.LastOffset - gap.FirstOffset + 1], subscriptions.Select(s => s.Drops));
        Assert.True(subscriptions[0].BacklogBytes > 100 * 8_000);
        Assert.Equal(200, subscriptions[0].Lag);
        Assert.Equal(0, subscriptions[1].BacklogBytes);
        string spill = Path.Combine(server.Directory, "spill");
        await Eventually.TrueAsync(
            () => Directory.Exists(spill) && Directory.GetFiles(spill).Length > 0,
            Patience,
            () => "nothing reaches the disk"
        );

        await server.RestartAsync(between: () =>
        {
            Assert.False(Directory.Exists(spill)); // A stop in the middle.
            Directory.CreateDirectory(spill);
            File.WriteAllText(Path.Combine(spill, "0000000000000000"), "left by a broker that was killed");
        });

        Assert.False(Directory.Exists(spill));
    }

    private static Task<TopicInfo> CreateAsync(LightQClient client, SlowPolicy policy) =>
        client.Topics.CreateAsync(
            new TopicSpec("t")
            {
                Kind = TopicKind.Transient,
                MaxMessageBytes = 16 * 1024,
                RingBytes = RingBytes,
                SlowPolicy = policy,
            },
            TestContext.Current.CancellationToken
        );

    private static async Task PublishAsync(LightQClient client, int messages)
    {
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        for (int i = 0; i < messages; i++)
            await producer.PublishAsync(new byte[8_000], cancellationToken: TestContext.Current.CancellationToken);
    }
}
