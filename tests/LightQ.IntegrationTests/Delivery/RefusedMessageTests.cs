using System.Text;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>A message that its topic does not take fails alone, whoever publishes beside it with the same producer.</summary>
public sealed class RefusedMessageTests
{
    private static readonly PublishOptions Later = new() { Delay = TimeSpan.FromHours(1) };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(null)]
    [InlineData("a")]
    public async Task Whatever_a_transient_topic_refuses_fails_alone(string? name)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", maxMessageBytes: 2048);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("t", new() { Name = name }, Cancel);
        byte[] large = new byte[3000];
        (byte[] Body, PublishOptions Options, MessageHeaders? Headers, string? Key, ErrorCode Code)[] refused =
        [
            ([1], Later, null, null, ErrorCode.NotSupported),
            ([1], new() { Delay = TimeSpan.FromDays(365) }, null, "k", ErrorCode.NotSupported),
            (
                [1],
                new() { DeliverAt = DateTimeOffset.UtcNow.AddDays(1), MessageId = "i" },
                null,
                null,
                ErrorCode.NotSupported
            ),
            ([1], Later with { TimeToLive = TimeSpan.FromSeconds(1) }, null, null, ErrorCode.NotSupported),
            ([1], new() { DeliverAt = DateTimeOffset.UtcNow.AddDays(400) }, null, null, ErrorCode.InvalidArgument),
            ([1], Later with { DeliverAt = DateTimeOffset.UtcNow.AddDays(1) }, null, null, ErrorCode.InvalidArgument),
            (large, default, null, null, ErrorCode.MessageTooLarge),
            (large, new() { MessageId = "large" }, null, null, ErrorCode.MessageTooLarge),
            ([1], default, new() { { "h", Encoding.UTF8.GetString(large) } }, null, ErrorCode.MessageTooLarge),
            ([1], default, null, new string('k', 3000), ErrorCode.MessageTooLarge),
        ];
        (byte[] Body, PublishOptions Options)[] taken =
        [
            ([1], default),
            ([1], new() { MessageId = "an id without a window" }),
            ([1], new() { TimeToLive = TimeSpan.FromMilliseconds(1) }), // It may be expired when it is stored.
            ([1], new() { DeliverAt = DateTimeOffset.UnixEpoch }),
            ([1], new() { DeliverAt = DateTimeOffset.MinValue }),
            ([1], new() { TimeToLive = TimeSpan.MaxValue }),
        ];
        long stored = 0;
        foreach (var bad in refused)
        {
            Task<PublishAck>[] others = [.. taken.Select(Publish)];
            LightQException error = await Assert.ThrowsAsync<LightQException>(async () =>
                await producer.PublishAsync(bad.Body.AsMemory(), bad.Options, bad.Key, bad.Headers, Cancel)
            );
            Assert.Equal(bad.Code, error.Code);
            others = [.. others, .. taken.Select(Publish)];
            Assert.Equal(
                Enumerable.Range(0, others.Length).Select(i => stored + i),
                (await Task.WhenAll(others)).Select(ack => ack.Offset)
            );
            stored += others.Length;
        }
        await producer.FlushAsync(Cancel);

        Task<PublishAck> Publish((byte[] Body, PublishOptions Options) message) =>
            producer.PublishAsync(message.Body.AsMemory(), message.Options, cancellationToken: Cancel).AsTask();
    }

    [Theory]
    [InlineData(null)]
    [InlineData("a")]
    public async Task What_a_limit_of_the_broker_refuses_fails_alone_and_no_order_is_lost(string? name)
    {
        const int Messages = 300;
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Broker = o.Broker with { MaxDelayedBatches = 2 },
            }
        );
        await server.CreateTopicAsync("t", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("t", new() { Name = name }, Cancel);
        var plain = new List<Task<PublishAck>>();
        var delayed = new List<Task<PublishAck>>();
        for (int i = 0; i < Messages; i++)
        {
            plain.Add(producer.PublishAsync(BitConverter.GetBytes(i).AsMemory(), cancellationToken: Cancel).AsTask());
            if (i % 10 == 0)
            {
                // Each in a batch of its own.
                PublishOptions options = new() { Delay = TimeSpan.FromHours(1 + i) };
                delayed.Add(producer.PublishAsync("later"u8, options, cancellationToken: Cancel).AsTask());
            }
        }
        long[] offsets = [.. (await Task.WhenAll(plain)).Select(ack => ack.Offset)];
        Assert.Equal(offsets.Order(), offsets);
        ErrorCode[] outcomes = await Task.WhenAll(delayed.Select(OutcomeAsync));
        Assert.Equal(2, outcomes.Count(code => code == ErrorCode.None));
        Assert.Equal(delayed.Count - 2, outcomes.Count(code => code == ErrorCode.ResourceExhausted));
        Assert.False(producer.IsBroken);

        // The numbers of the named one go on behind what was refused, on another connection and after a start.
        Assert.Equal(ErrorCode.ResourceExhausted, await OutcomeAsync(PublishLaterAsync(producer)));
        await using (var second = new LightQClient(server.ConnectionString))
        await using (Producer next = await second.CreateProducerAsync("t", new() { Name = name }, Cancel))
        {
            await next.PublishAsync("x"u8, cancellationToken: Cancel);
            Assert.Equal(ErrorCode.ResourceExhausted, await OutcomeAsync(PublishLaterAsync(next)));
        }
        await server.RestartAsync();
        await using (var third = new LightQClient(server.ConnectionString))
        await using (Producer next = await third.CreateProducerAsync("t", new() { Name = name }, Cancel))
        {
            Assert.Equal(ErrorCode.ResourceExhausted, await OutcomeAsync(PublishLaterAsync(next)));
            await next.PublishAsync("x"u8, cancellationToken: Cancel);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(30)]
    [InlineData(-30)]
    public async Task The_longest_delay_is_taken_exactly_whichever_clock_is_ahead(int minutes)
    {
        var clientTime = new ManualTime();
        var serverTime = new ManualTime();
        (minutes > 0 ? clientTime : serverTime).Advance(TimeSpan.FromMinutes(Math.Abs(minutes)));
        await using TestServer server = await TestServer.StartAsync(time: serverTime);
        await server.CreateTopicAsync("t", TopicKind.Durable);
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                TimeProvider = clientTime,
                ConnectionTime = TimeProvider.System,
            }
        );
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancel);
        var longest = TimeSpan.FromDays(365);
        clientTime.Advance(TimeSpan.FromMicroseconds(1)); // No multiple of any step.
        foreach (
            PublishOptions options in (PublishOptions[])
                [
                    new() { Delay = longest },
                    new() { DeliverAt = clientTime.GetUtcNow() + longest },
                    new() { Delay = longest, MessageId = "i" },
                    new() { Delay = longest, TimeToLive = TimeSpan.FromDays(1) },
                ]
        )
        {
            await producer.PublishAsync("x"u8, options, cancellationToken: Cancel);
            await client.PublishAsync("t", "x"u8, options: options, cancellationToken: Cancel);
        }
    }

    [Fact]
    public async Task A_message_that_is_longer_than_a_frame_fails_alone()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = o.DataPlane with { MaxFrameBytes = 128 * 1024 },
            }
        );
        await server.CreateTopicAsync("t");
        await using var client = new LightQClient(server.ConnectionString);
        int connects = 0;
        client.ConnectionStateChanged += (_, args) => connects += args.State == ConnectionState.Connected ? 1 : 0;
        await using Producer producer = await client.CreateProducerAsync("t", new() { Name = "a" }, Cancel);
        foreach (int length in (int[])[1, 127 * 1024, 200_000, 1024 * 1024, 127 * 1024, 1])
        {
            Task<PublishAck> published = Task.Run(
                async () => await producer.PublishAsync(new byte[length].AsMemory(), cancellationToken: Cancel),
                Cancel
            );
            Assert.Equal(
                length > 128 * 1024 ? ErrorCode.MessageTooLarge : ErrorCode.None,
                await OutcomeAsync(published)
            );
        }
        await client.PingAsync(Cancel);
        Assert.Equal(1, connects);
    }

    private static Task<PublishAck> PublishLaterAsync(Producer producer) =>
        producer.PublishAsync("later"u8, Later, cancellationToken: Cancel).AsTask();

    private static async Task<ErrorCode> OutcomeAsync(Task<PublishAck> publishing)
    {
        try
        {
            await publishing;
            return ErrorCode.None;
        }
        catch (LightQException e)
        {
            return e.Code;
        }
    }
}
