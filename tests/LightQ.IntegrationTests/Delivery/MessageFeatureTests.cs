using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Compression, time to live and filters between real sockets.</summary>
public sealed class MessageFeatureTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(TopicKind.Transient, BatchCodec.Brotli)]
    [InlineData(TopicKind.Durable, BatchCodec.Brotli)]
    [InlineData(TopicKind.Durable, BatchCodec.Deflate)]
    public async Task Compressed_messages_come_back_as_they_were_also_after_a_restart(TopicKind kind, BatchCodec codec)
    {
        const int Messages = 5000;
        await using TestServer server = await TestServer.StartAsync();
        await using (var client = new LightQClient(server.ConnectionString))
        {
            await client.Topics.CreateAsync(new TopicSpec("t") { Kind = kind }, Cancelled);
            await using Producer producer = await client.CreateProducerAsync(
                "t",
                new ProducerOptions { Compression = codec },
                Cancelled
            );
            for (int i = 0; i < Messages; )
            {
                // Full batches: those that form by themselves may be too small to be worth it.
                using BatchBuilder batch = producer.CreateBatch();
                while (i < Messages && batch.TryAdd(Encoding.UTF8.GetBytes(Text(i)), $"key {i}"))
                    i++;
                await producer.PublishAsync(batch, Cancelled);
            }
            await CheckAsync(client);
            TopicStats stats = await client.Stats.GetTopicAsync("t", Cancelled);
            Assert.InRange(stats.TotalBytesWritten, 1, Messages * 20);
        }
        if (kind == TopicKind.Transient)
            return;
        await server.RestartAsync();
        await using var again = new LightQClient(server.ConnectionString);
        await CheckAsync(again);

        static string Text(int number) => string.Concat(Enumerable.Repeat($"message {number} ", 10));

        static async Task CheckAsync(LightQClient client)
        {
            int next = 0;
            await foreach (
                Message message in client
                    .ConsumeAsync("t", new() { Start = StartPosition.Earliest })
                    .WithCancellation(Cancelled)
            )
            {
                Assert.Equal(next, message.Offset);
                Assert.Equal(Text(next), message.GetText());
                Assert.Equal($"key {next}", Encoding.UTF8.GetString(message.Key.Span));
                if (++next == Messages)
                    break;
            }
            next = 0;
            await foreach (
                MessageBatch batch in client
                    .ConsumeBatchesAsync("t", new() { Start = StartPosition.Offset(7) })
                    .WithCancellation(Cancelled)
            )
            {
                foreach (RecordView record in batch)
                    Assert.Equal(7 + next++, record.Offset);
                if (next == Messages - 7)
                    break;
            }
        }
    }

    [Theory]
    [InlineData(TopicKind.Transient)]
    [InlineData(TopicKind.Durable)]
    public async Task Messages_that_have_expired_are_told_and_not_delivered(TopicKind kind)
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = time,
                ConnectionTime = TimeProvider.System,
            }
        );
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                TimeProvider = time,
                ConnectionTime = TimeProvider.System,
            }
        );
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = kind }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            new ProducerOptions { TimeToLive = TimeSpan.FromSeconds(10) },
            Cancelled
        );
        await producer.PublishAsync("ten"u8.ToArray(), cancellationToken: Cancelled);
        await producer.PublishAsync(
            "thirty"u8.ToArray(),
            new PublishOptions { TimeToLive = TimeSpan.FromSeconds(30) },
            cancellationToken: Cancelled
        );
        await producer.PublishAsync(
            "ever"u8.ToArray(),
            new PublishOptions { TimeToLive = Timeout.InfiniteTimeSpan },
            "k",
            cancellationToken: Cancelled
        );

        Assert.Equal(["ten", "thirty", "ever"], await ReadAsync(3));
        Assert.Equal(0, client.MessagesExpired);
        time.Advance(TimeSpan.FromSeconds(11));
        Assert.Equal(["0 Expired", "thirty", "ever"], await ReadAsync(2));
        time.Advance(TimeSpan.FromDays(365));
        Assert.Equal(["0 Expired", "1 Expired", "ever"], await ReadAsync(1));
        Assert.Equal(3, client.MessagesExpired);

        async Task<List<string>> ReadAsync(int messages)
        {
            var seen = new List<string>();
            var options = new ConsumeOptions
            {
                Start = StartPosition.Earliest,
                OnGap = gap => seen.Add($"{gap.FirstOffset} {gap.Reason}"),
            };
            await foreach (Message message in client.ConsumeAsync("t", options).WithCancellation(Cancelled))
            {
                seen.Add(message.GetText());
                if (--messages == 0)
                    break;
            }
            return seen;
        }
    }

    [Fact]
    public async Task A_tombstone_has_its_key_and_headers_and_no_body_in_each_partition_as_in_one()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("customers") { Kind = TopicKind.Transient, Partitions = 2 },
            TestContext.Current.CancellationToken
        );
        await using MessageConsumer consumer = client.CreateConsumer(
            "customers",
            new() { Start = StartPosition.Earliest }
        );
        await using Producer producer = await client.CreateProducerAsync(
            "customers",
            cancellationToken: TestContext.Current.CancellationToken
        );

        await producer.PublishAsync(
            ReadOnlyMemory<byte>.Empty,
            key: "42",
            cancellationToken: TestContext.Current.CancellationToken
        );
        await producer.PublishTombstoneAsync(
            "42",
            new MessageHeaders { { "by", "audit" } },
            TestContext.Current.CancellationToken
        );
        Assert.True(producer.TryPublishTombstone("42"));
        await Assert.ThrowsAsync<ArgumentException>(() =>
            producer.PublishTombstoneAsync(default, cancellationToken: TestContext.Current.CancellationToken).AsTask()
        );

        IReadOnlyList<Message> messages = await consumer.FetchAsync(
            3,
            TimeSpan.FromSeconds(20),
            TimeSpan.FromSeconds(20),
            TestContext.Current.CancellationToken
        );
        Assert.Equal([false, true, true], messages.Select(m => m.IsTombstone));
        Assert.All(
            messages,
            m =>
                Assert.Equal(
                    (0, "42", producer.PartitionOf("42")),
                    (m.Body.Length, System.Text.Encoding.UTF8.GetString(m.Key.Span), m.Partition)
                )
        );
        Assert.True(messages[1].TryGetHeader("by", out ReadOnlySpan<byte> by) && by.SequenceEqual("audit"u8));
    }

    [Fact]
    public async Task A_filter_passes_over_messages_and_receipts_of_all_are_counted()
    {
        const int Messages = 900;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Transient }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        for (int i = 0; i < Messages; i++)
            producer.TryPublish("x"u8, $"{i}", new MessageHeaders { { "region", i % 3 == 0 ? "eu-1" : "us-1" } });
        await producer.FlushAsync(Cancelled);
        var options = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            SettleMode = SettleMode.Explicit,
            Filter = MessageFilter.Parse("region ^= 'us'"),
        };
        int seen = 0;
        await foreach (Message message in client.ConsumeAsync("t", options, Cancelled))
        {
            Assert.NotEqual(0, message.Offset % 3);
            if (++seen < Messages * 2 / 3)
            {
                message.QueueCompletion();
                continue;
            }
            await message.CompleteAsync(Cancelled);
            break;
        }
        Assert.Equal(Messages, (await client.Stats.GetTopicAsync("t", Cancelled)).MessagesSettled);
    }
}
