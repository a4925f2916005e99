using System.Globalization;
using System.Text;
using System.Threading.Channels;
using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>A message is good for as long as it is referenced, however it was consumed and kept.</summary>
public sealed class KeptMessageTests
{
    private const int Many = 400_000,
        Some = 40_000,
        ChunkSize = 20_000;

    private static readonly ConsumeOptions FromTheStart = new() { Start = StartPosition.Earliest };

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_list_of_very_many_holds_each_as_it_was_published()
    {
        List<Message> kept;
        await using (TestServer server = await TestServer.StartAsync())
        await using (LightQClient client = await PublishAsync(server, new TopicSpec("t"), Many))
            kept = await client.ConsumeAsync("t", FromTheStart, Cancelled).Take(Many).ToListAsync(Cancelled);
        // The client and the broker are gone.
        Check(kept, Enumerable.Range(0, Many));
        Assert.Equal(Enumerable.Range(0, Many).Select(i => (long)i), kept.Select(m => m.Offset));
    }

    [Theory]
    [InlineData(BatchCodec.None, 1)]
    [InlineData(BatchCodec.Brotli, 1)]
    [InlineData(BatchCodec.None, 3)]
    [InlineData(BatchCodec.Deflate, 3)]
    public async Task Chunks_lists_and_queries_may_keep_messages(BatchCodec codec, int partitions)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await PublishAsync(
            server,
            new TopicSpec("t") { Partitions = partitions },
            Some,
            codec
        );
        var options = new ConsumeOptions { Start = StartPosition.Earliest, Filter = MessageFilter.Parse("odd = 'no'") };

        List<Message[]> chunks = await client
            .ConsumeAsync("t", FromTheStart, Cancelled)
            .Take(Some)
            .Chunk(ChunkSize)
            .ToListAsync(Cancelled);
        Message[] wanted = await client.ConsumeAsync("t", options, Cancelled).Take(Some / 2).ToArrayAsync(Cancelled);
        List<Message> ordered = await client
            .ConsumeAsync("t", FromTheStart, Cancelled)
            .Where(message => NumberOf(message) % 7 == 0)
            .Take((Some / 7) + 1)
            .OrderByDescending(message => NumberOf(message))
            .ToListAsync(Cancelled);

        Check(chunks.SelectMany(chunk => chunk), Enumerable.Range(0, Some));
        Check(wanted, Enumerable.Range(0, Some).Where(i => i % 2 == 0));
        Check(ordered, Enumerable.Range(0, Some).Where(i => i % 7 == 0));
    }

    [Fact]
    public async Task Values_keep_their_messages()
    {
        await using TestServer server = await TestServer.StartAsync();
        List<Message<byte[]>> kept;
        await using (LightQClient client = await PublishAsync(server, new TopicSpec("t"), Some))
        {
            kept = await client
                .ConsumeAsync("t", MessageSerializer.Bytes, FromTheStart, Cancelled)
                .Take(Some)
                .ToListAsync(Cancelled);
        }
        Check(kept.Select(value => value.Raw), Enumerable.Range(0, Some));
        Assert.All(kept, value => Assert.True(value.Raw.BodySpan.SequenceEqual(value.Value)));
    }

    [Fact]
    public async Task Fetched_messages_are_kept_and_settled_later()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await PublishAsync(server, new TopicSpec("t"), Some);
        await using MessageConsumer consumer = client.CreateConsumer("t", Member("a"));
        var kept = new List<Message>();
        while (kept.Count < Some)
            kept.AddRange(await consumer.FetchAsync(1000, TimeSpan.FromMinutes(1), cancellationToken: Cancelled));

        Check(kept, Enumerable.Range(0, Some));
        await SettleAsync(kept);
        Assert.Equal(0, (await client.Groups.GetAsync("t", "a", Cancelled)).Lag);
    }

    [Fact]
    public async Task Another_thread_reads_and_settles_what_a_loop_of_a_group_wrote_to_a_channel()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await PublishAsync(server, new TopicSpec("t"), Some);
        var channel = Channel.CreateUnbounded<Message>();
        var settled = new TaskCompletionSource();
        Task<List<Message>> reading = Task.Run(async () =>
        {
            List<Message> kept = await channel.Reader.ReadAllAsync(Cancelled).ToListAsync(Cancelled);
            await SettleAsync(kept);
            settled.SetResult();
            return kept;
        });

        int left = Some;
        await foreach (Message message in client.ConsumeAsync("t", Member("b"), Cancelled))
        {
            await channel.Writer.WriteAsync(message, Cancelled);
            if (--left != 0)
                continue;
            channel.Writer.Complete();
            await settled.Task.WaitAsync(Cancelled);
            break;
        }
        Check(await reading, Enumerable.Range(0, Some));
        Assert.Equal(0, (await client.Groups.GetAsync("t", "b", Cancelled)).Lag);
    }

    [Fact]
    public async Task Handlers_of_a_processor_keep_messages()
    {
        const int Few = 5_000;
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await PublishAsync(server, new TopicSpec("t"), Few);
        var kept = new List<Message>();
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using LightQProcessor processor = client.CreateProcessor("t", "c", new() { MaxConcurrency = 4 });
        processor.ProcessMessageAsync += args =>
        {
            lock (kept)
            {
                kept.Add(args.Message);
                if (kept.Count == Few)
                    all.TrySetResult();
            }
            return Task.CompletedTask;
        };
        await processor.StartAsync(Cancelled);
        await all.Task.WaitAsync(Cancelled);
        await processor.StopAsync(Cancelled);
        Check(kept, Enumerable.Range(0, Few));
    }

    private static ConsumeOptions Member(string group) =>
        new()
        {
            Start = StartPosition.Earliest,
            Group = group,
            SettleMode = SettleMode.Explicit,
            MaxInFlight = Many,
            LockDuration = TimeSpan.FromMinutes(5),
        };

    private static async Task SettleAsync(List<Message> messages)
    {
        foreach (Message message in messages.SkipLast(1))
            message.QueueCompletion();
        Assert.Equal(SettleOutcome.Done, await messages[^1].CompleteAsync(Cancelled));
    }

    /// <summary>A client that has published messages: the key and the header of each say what its body is.</summary>
    private static async Task<LightQClient> PublishAsync(
        TestServer server,
        TopicSpec topic,
        int count,
        BatchCodec codec = BatchCodec.None
    )
    {
        var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(topic, Cancelled);
        var options = new ProducerOptions { Compression = codec, AckLevel = Durability.Written };
        await using Producer producer = await client.CreateProducerAsync(topic.Name, options, Cancelled);
        byte[] body = new byte[BodyLength(int.MaxValue)];
        MessageHeaders even = new() { { "odd", "no" } },
            odd = new() { { "odd", "yes" } };
        for (int i = 0; i < count; i++)
        {
            Write(body, i);
            while (!producer.TryPublish(body.AsSpan(0, BodyLength(i)), KeyOf(i), i % 2 == 0 ? even : odd))
                await producer.WaitForRoomAsync(Cancelled);
        }
        await producer.FlushAsync(Cancelled);
        return client;
    }

    private static void Check(IEnumerable<Message> kept, IEnumerable<int> published)
    {
        Span<byte> body = new byte[BodyLength(int.MaxValue)];
        var left = published.ToHashSet();
        foreach (Message message in kept)
        {
            int number = NumberOf(message);
            Assert.True(left.Remove(number), $"Message {number} is there twice, or was not wanted.");
            Write(body, number);
            Assert.True(message.BodySpan.SequenceEqual(body[..BodyLength(number)]));
            Assert.True(message.Body.Span.SequenceEqual(message.BodySpan));
            Assert.True(message.TryGetHeader("odd", out ReadOnlySpan<byte> odd));
            Assert.True(odd.SequenceEqual(number % 2 == 0 ? "no"u8 : "yes"u8));
            Assert.False(message.IsTombstone);
            Assert.InRange(message.AppendTime, DateTimeOffset.UtcNow.AddHours(-1), DateTimeOffset.UtcNow.AddHours(1));
        }
        Assert.Empty(left);
    }

    private static string KeyOf(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static int NumberOf(Message message) =>
        int.Parse(Encoding.ASCII.GetString(message.Key.Span), CultureInfo.InvariantCulture);

    // Up to 80 bytes; and now and then one that is longer than what small messages share.
    private static int BodyLength(int number) =>
        number % 5_000 == 4_999 || number == int.MaxValue ? 9_000 : number % 80;

    private static void Write(Span<byte> body, int number)
    {
        for (int i = 0; i < BodyLength(number); i++)
            body[i] = (byte)(number + i);
    }
}
