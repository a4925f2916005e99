using System.Globalization;
using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Faults;
using LightQ.Protocol;
using LightQ.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Topics with several partitions, from producer to consumer.</summary>
public sealed class PartitionTests
{
    private const int Partitions = 4;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(TopicKind.Transient)]
    [InlineData(TopicKind.Durable)]
    public async Task Messages_with_the_same_key_are_in_one_partition_in_their_order(TopicKind kind)
    {
        const int Messages = 20_000,
            Keys = 300;
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server, kind);
        var subscribed = new Subscribed(Partitions);
        Task<List<Received>> consuming = ConsumeAsync(
            client,
            "t",
            Messages,
            new ConsumeOptions { Start = StartPosition.Earliest, OnSubscribed = subscribed.Tell }
        );
        await subscribed.All;
        await using (Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled))
        {
            Assert.Equal((null, Partitions), (producer.Partition, producer.PartitionCount));
            for (int i = 0; i < Messages; i++)
            {
                string key = $"key-{i % Keys}";
                while (!producer.TryPublish(Encoding.UTF8.GetBytes(i.ToString(CultureInfo.InvariantCulture)), key))
                    await producer.WaitForRoomAsync(Cancelled);
            }
            await producer.FlushAsync(Cancelled);
        }

        List<Received> received = await consuming;
        Assert.Equal(Enumerable.Range(0, Partitions), received.Select(r => r.Partition).Distinct().Order());
        foreach (IGrouping<string, Received> ofKey in received.GroupBy(r => r.Key))
        {
            Assert.Equal(
                [KeyRouting.PartitionOf(Encoding.UTF8.GetBytes(ofKey.Key), Partitions)],
                ofKey.Select(r => r.Partition).Distinct()
            );
            int first = int.Parse(ofKey.Key.AsSpan(4), CultureInfo.InvariantCulture);
            Assert.Equal(
                Enumerable.Range(0, ofKey.Count()).Select(n => first + (n * Keys)),
                ofKey.Select(r => r.Number)
            );
        }
        foreach (IGrouping<int, Received> ofPartition in received.GroupBy(r => r.Partition))
        {
            Assert.Equal(
                Enumerable.Range(0, ofPartition.Count()).Select(n => (long)n),
                ofPartition.Select(r => r.Offset)
            );
        }
    }

    [Fact]
    public async Task Messages_without_a_key_go_to_every_partition_and_all_of_them_arrive()
    {
        const int Messages = 5_000;
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        var acks = new List<PublishAck>();
        for (int i = 0; i < 8; i++)
            acks.Add(await producer.PublishAsync("alone"u8, cancellationToken: Cancelled));
        // Each was sent before the next one came.
        Assert.Equal(Partitions, acks.Select(a => a.Partition).Distinct().Count());

        byte[] body = new byte[1000];
        for (int i = acks.Count; i < Messages; i++)
        {
            while (!producer.TryPublish(body))
                await producer.WaitForRoomAsync(Cancelled);
        }
        await producer.FlushAsync(Cancelled);
        TopicInfo info = await client.Topics.GetAsync("t", Cancelled);
        Assert.Equal(Messages, info.EndOffsets.Sum());
        Assert.All(info.EndOffsets, end => Assert.True(end > 2, $"ends {string.Join(' ', info.EndOffsets)}"));
    }

    [Fact]
    public async Task A_batch_goes_to_one_partition_that_its_maker_or_its_first_message_chooses()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        (MessageKey ofThree, MessageKey ofTwo) = ("42", "order-42");
        Assert.Equal((3, 2), (producer.PartitionOf(ofThree), producer.PartitionOf(ofTwo)));

        using BatchBuilder routed = producer.CreateBatch();
        Assert.True(routed.TryAdd("a"u8, ofThree));
        Assert.False(routed.TryAdd("b"u8, ofTwo));
        Assert.True(routed.TryAdd("c"u8));
        PublishAck ack = await producer.PublishAsync(routed, Cancelled);
        Assert.Equal((3, 2), (ack.Partition, ack.Count));
        Assert.True(routed.TryAdd("b"u8, ofTwo));
        Assert.Equal(2, (await producer.PublishAsync(routed, Cancelled)).Partition);

        using BatchBuilder bound = producer.CreateBatch(partition: 1);
        Assert.True(bound.TryAdd("a"u8, ofThree));
        Assert.True(bound.TryAdd("b"u8, ofTwo));
        Assert.True(producer.TryPublish(bound));
        await producer.FlushAsync(Cancelled);
        Assert.Equal([0L, 2L, 1L, 2L], (await client.Topics.GetAsync("t", Cancelled)).EndOffsets);
        Assert.Throws<ArgumentOutOfRangeException>(() => producer.CreateBatch(partition: Partitions));
    }

    [Fact]
    public async Task One_partition_is_addressed_by_name_and_number()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server);
        await using (Producer bound = await client.CreateProducerAsync("t/3", cancellationToken: Cancelled))
        {
            Assert.Equal(3, bound.Partition);
            for (int i = 0; i < 10; i++)
            {
                Assert.Equal(
                    3,
                    (await bound.PublishAsync(Body(i), key: $"key-{i}", cancellationToken: Cancelled)).Partition
                );
            }
        }
        await using (
            Producer other = await client.CreateProducerAsync("t", new ProducerOptions { Partition = 1 }, Cancelled)
        )
        {
            await other.PublishAsync(Body(99), key: "k", cancellationToken: Cancelled);
        }

        List<Received> three = await ConsumeAsync(
            client,
            "t/3",
            10,
            new ConsumeOptions { Start = StartPosition.Earliest }
        );
        Assert.Equal(
            Enumerable.Range(0, 10).Select(i => (3, (long)i, i)),
            three.Select(r => (r.Partition, r.Offset, r.Number))
        );
        List<Received> tail = await ConsumeAsync(
            client,
            "t",
            2,
            new ConsumeOptions { Start = StartPosition.Offset(8), Partition = 3 }
        );
        Assert.Equal([8, 9], tail.Select(r => r.Number));

        LightQException none = await Assert.ThrowsAsync<LightQException>(() =>
            ConsumeAsync(client, "t/4", 1, new ConsumeOptions())
        );
        Assert.Equal(
            (ErrorCode.UnknownPartition, "The topic 't' has no partition 4; allowed: 0 to 3."),
            (none.Code, none.Message)
        );
        LightQException all = await Assert.ThrowsAsync<LightQException>(() =>
            ConsumeAsync(client, "t", 1, new ConsumeOptions { Start = StartPosition.Offset(8) })
        );
        Assert.Equal(ErrorCode.InvalidArgument, all.Code);
        Assert.Contains("needs one of them", all.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() =>
            client.ConsumeAsync("t/3", new ConsumeOptions { Partition = 2 }, Cancelled)
        );
        await Assert.ThrowsAsync<ArgumentException>(() =>
            client.CreateProducerAsync("t/x", cancellationToken: Cancelled)
        );
    }

    [Fact]
    public async Task A_partition_with_a_backlog_does_not_keep_the_others_waiting()
    {
        const int Backlog = 10_000;
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server);
        await using (Producer producer = await client.CreateProducerAsync("t/0", cancellationToken: Cancelled))
        {
            byte[] body = new byte[1000];
            for (int i = 0; i < Backlog; i++)
            {
                while (!producer.TryPublish(body))
                    await producer.WaitForRoomAsync(Cancelled);
            }
            await producer.FlushAsync(Cancelled);
        }
        await using (Producer last = await client.CreateProducerAsync("t/3", cancellationToken: Cancelled))
            await last.PublishAsync(new byte[1000], cancellationToken: Cancelled);

        int before = 0;
        var options = new ConsumeOptions { Start = StartPosition.Earliest, CreditBytes = 256 * 1024 };
        await foreach (Message message in client.ConsumeAsync("t", options, Cancelled))
        {
            if (message.Partition == 3)
                break;
            before++;
        }
        Assert.True(before < Backlog / 4, $"{before} of {Backlog} messages came first");
    }

    [Fact]
    public async Task The_members_of_a_group_share_what_is_in_all_partitions()
    {
        const int Messages = 2_000;
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server);
        await PublishAsync(client, Messages);
        var seen = new List<int>();
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        await Task.WhenAll(
            Enumerable
                .Range(0, 2)
                .Select(async _ =>
                {
                    try
                    {
                        await foreach (
                            Message message in client
                                .ConsumeAsync("t", new ConsumeOptions { Group = "billing" })
                                .WithCancellation(enough.Token)
                        )
                        {
                            lock (seen)
                            {
                                seen.Add(int.Parse(message.GetText(), CultureInfo.InvariantCulture));
                                if (seen.Count == Messages)
                                    enough.Cancel();
                            }
                        }
                    }
                    catch (OperationCanceledException) when (enough.IsCancellationRequested)
                    {
                        // All have come.
                    }
                })
        );
        Assert.Equal(Enumerable.Range(0, Messages), seen.Order());
    }

    [Fact]
    public async Task What_was_published_is_consumed_after_a_restart_and_figures_are_per_partition()
    {
        const int Messages = 1_000;
        await using TestServer server = await TestServer.StartAsync();
        await using (LightQClient client = await CreateAsync(server))
            await PublishAsync(client, Messages);
        await server.RestartAsync();
        await using var again = new LightQClient(server.ConnectionString);
        var subscribed = new Subscribed(Partitions);
        List<Received> received = await ConsumeAsync(
            again,
            "t",
            Messages,
            new ConsumeOptions { Start = StartPosition.Earliest, OnSubscribed = subscribed.Tell }
        );
        Assert.Equal(Enumerable.Range(0, Messages), received.Select(r => r.Number).Order());
        Assert.Equal(Partitions, subscribed.Told);

        TopicInfo info = await again.Topics.GetAsync("t", Cancelled);
        TopicStats all = await again.Stats.GetTopicAsync("t", Cancelled);
        Assert.Equal((Messages, null), ((int)all.EndOffset, all.Partition));
        for (int partition = 0; partition < Partitions; partition++)
        {
            TopicStats one = await again.Stats.GetTopicAsync($"t/{partition}", Cancelled);
            Assert.Equal((partition, info.EndOffsets[partition]), (one.Partition, one.EndOffset));
        }
        LightQException none = await Assert.ThrowsAsync<LightQException>(() =>
            again.Stats.GetTopicAsync("t/9", Cancelled)
        );
        Assert.Equal(ErrorCode.UnknownPartition, none.Code);
        string metrics = await server.Web.GetStringAsync("/metrics", Cancelled);
        Assert.Contains(
            $"lightq_partition_end_offset{{topic=\"t\",partition=\"3\"}} {info.EndOffsets[3]}\n",
            metrics,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task Truncating_a_partition_gives_a_gap_of_that_partition_and_deleting_ends_everything()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        for (int i = 0; i < 10; i++)
            await producer.PublishAsync(Body(i), key: "42", cancellationToken: Cancelled);
        Assert.Equal(7, await client.Topics.TruncateAsync("t", 7, partition: 3, Cancelled));

        var gaps = new List<MessageGap>();
        var options = new ConsumeOptions { Start = StartPosition.Offset(2), OnGap = gaps.Add };
        Assert.Equal([7, 8, 9], (await ConsumeAsync(client, "t/3", 3, options)).Select(r => r.Number));
        Assert.Equal([new MessageGap("t", 2, 6, GapReason.Retention, Partition: 3)], gaps);

        var subscribed = new Subscribed(Partitions);
        Task<List<Received>> consuming = ConsumeAsync(
            client,
            "t",
            int.MaxValue,
            new ConsumeOptions { OnSubscribed = subscribed.Tell }
        );
        await subscribed.All;
        IReadOnlyList<SubscriptionInfo> subscriptions = await client.Stats.ListSubscriptionsAsync("t", Cancelled);
        Assert.Equal(Enumerable.Range(0, Partitions), subscriptions.Select(s => s.Partition).Order());
        await client.Topics.DeleteAsync("t", Cancelled);
        Assert.Equal(ErrorCode.TopicDeleted, (await Assert.ThrowsAsync<LightQException>(() => consuming)).Code);
        await FaultedAsync(producer, ErrorCode.TopicDeleted);
        Assert.Empty(Directory.GetFileSystemEntries(Path.Combine(server.Directory, "topics")));
    }

    [Fact]
    public async Task A_named_producer_that_loses_its_connection_stores_everything_once_on_every_partition()
    {
        const int Messages = 6_000,
            Cuts = 4;
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient direct = await CreateAsync(server);
        await using var proxy = new CuttingProxy(server.DataPort, Cuts, new Random(11));
        await using (
            var client = new LightQClient(
                new LightQClientOptions
                {
                    DataPort = proxy.Port,
                    ControlPort = server.ControlPort,
                    WaitForBroker = true,
                    ReconnectDelay = TimeSpan.FromMilliseconds(1),
                    MaxReconnectDelay = TimeSpan.FromMilliseconds(5),
                }
            )
        )
        {
            await using Producer producer = await client.CreateProducerAsync(
                "t",
                new ProducerOptions { Name = "billing" },
                Cancelled
            );
            byte[] padding = new byte[100];
            for (int i = 0; i < Messages; i++)
            {
                byte[] body = [.. Body(i), (byte)' ', .. padding];
                while (!producer.TryPublish(body, $"key-{i % 50}"))
                    await producer.WaitForRoomAsync(Cancelled);
            }
            await producer.FlushAsync(Cancelled);
        }
        Assert.Equal(Cuts, proxy.Cuts);
        List<Received> received = await ConsumeAsync(
            direct,
            "t",
            Messages,
            new ConsumeOptions { Start = StartPosition.Earliest }
        );
        Assert.Equal(Messages, (await direct.Topics.GetAsync("t", Cancelled)).EndOffsets.Sum());
        foreach (IGrouping<string, Received> ofKey in received.GroupBy(r => r.Key))
        {
            Assert.Equal(
                Enumerable
                    .Range(0, Messages / 50)
                    .Select(n => int.Parse(ofKey.Key.AsSpan(4), CultureInfo.InvariantCulture) + (n * 50)),
                ofKey.Select(r => r.Number)
            );
        }
    }

    [Fact]
    public async Task A_newer_producer_of_a_name_fences_the_older_one_on_all_partitions()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await CreateAsync(server);
        await using var elsewhere = new LightQClient(server.ConnectionString);
        var named = new ProducerOptions { Name = "billing" };
        await using Producer older = await client.CreateProducerAsync("t", named, Cancelled);
        for (int i = 0; i < 40; i++)
            await older.PublishAsync(Body(i), key: $"key-{i}", cancellationToken: Cancelled);
        await using Producer newer = await elsewhere.CreateProducerAsync("t", named, Cancelled);

        LightQException first = await Assert.ThrowsAsync<LightQException>(async () =>
            await older.PublishAsync("late"u8, key: "42", cancellationToken: Cancelled)
        );
        Assert.Equal(ErrorCode.Fenced, first.Code);
        await FaultedAsync(older, ErrorCode.Fenced);
        for (int i = 0; i < 40; i++)
            await newer.PublishAsync(Body(i), key: $"key-{i}", cancellationToken: Cancelled);
        Assert.Equal(80, (await client.Topics.GetAsync("t", Cancelled)).EndOffsets.Sum());
    }

    [Fact]
    public async Task A_producer_that_comes_back_does_not_take_its_name_from_one_that_it_has_not_heard_of()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient(),
            elsewhere = broker.CreateClient();
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, Partitions = Partitions },
            Cancelled
        );
        var named = new ProducerOptions { Name = "billing" };
        await using Producer older = await client.CreateProducerAsync("t", named, Cancelled);
        await using Producer newer = await elsewhere.CreateProducerAsync("t", named, Cancelled);
        broker.DropConnections();
        await FaultedAsync(older, ErrorCode.Fenced);
        for (int k = 0; k < 40; k++)
            await newer.PublishAsync(Body(k), key: $"key-{k}", cancellationToken: Cancelled);
        Assert.Equal(40, (await elsewhere.Topics.GetAsync("t", Cancelled)).EndOffsets.Sum());
    }

    /// <summary>What ends a producer's stream of one partition ends those of all: soon, by their own threads.</summary>
    private static async Task FaultedAsync(Producer producer, ErrorCode code)
    {
        string[] keys = ["a", "key-0", "order-42", "42", "key-1", "key-2", "key-3", "key-4"];
        Assert.Equal(Enumerable.Range(0, Partitions), keys.Select(k => producer.PartitionOf(k)).Distinct().Order());
        foreach (string key in keys)
        {
            ErrorCode last = ErrorCode.None;
            await Eventually.TrueAsync(
                async () =>
                {
                    try
                    {
                        await producer.PublishAsync("late"u8, key: key, cancellationToken: Cancelled);
                        last = ErrorCode.None;
                    }
                    catch (LightQException e)
                    {
                        last = e.Code;
                    }
                    return last == code;
                },
                TimeSpan.FromSeconds(30),
                () => $"'{key}' is answered with {last}, not {code}"
            );
        }
    }

    private static async Task<LightQClient> CreateAsync(TestServer server, TopicKind kind = TopicKind.Durable)
    {
        var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = kind, Partitions = Partitions }, Cancelled);
        return client;
    }

    private static byte[] Body(int number) => Encoding.UTF8.GetBytes(number.ToString(CultureInfo.InvariantCulture));

    private static async Task PublishAsync(LightQClient client, int count)
    {
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        for (int i = 0; i < count; i++)
        {
            while (!producer.TryPublish(Body(i), $"key-{i}"))
                await producer.WaitForRoomAsync(Cancelled);
        }
        await producer.FlushAsync(Cancelled);
    }

    private static async Task<List<Received>> ConsumeAsync(
        LightQClient client,
        string topic,
        int count,
        ConsumeOptions options
    )
    {
        var received = new List<Received>();
        await foreach (Message message in client.ConsumeAsync(topic, options).WithCancellation(Cancelled))
        {
            int number = int.Parse(message.GetText().Split(' ')[0], CultureInfo.InvariantCulture);
            received.Add(
                new Received(message.Partition, message.Offset, Encoding.UTF8.GetString(message.Key.Span), number)
            );
            if (received.Count == count)
                break;
        }
        return received;
    }

    private readonly record struct Received(int Partition, long Offset, string Key, int Number);

    /// <summary>Told by each partition that its subscription stands.</summary>
    private sealed class Subscribed(int partitions)
    {
        private readonly TaskCompletionSource _all = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _told;

        public Task All => _all.Task;

        public int Told => Volatile.Read(ref _told);

        public void Tell(SubscriptionStarted started)
        {
            Assert.Equal(partitions, started.PartitionCount);
            if (Interlocked.Increment(ref _told) == partitions)
                _all.TrySetResult();
        }
    }
}
