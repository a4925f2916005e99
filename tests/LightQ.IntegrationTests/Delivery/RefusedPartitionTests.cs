using System.Collections.Concurrent;
using System.Globalization;
using Grpc.Core;
using LightQ.Cli.Doctor;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Faults;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using LightQ.Server;
using LightQ.Server.Diagnosis;
using LightQ.Tests.Shared;
using Xunit;
using SettleMode = LightQ.Client.SettleMode;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// One flipped bit in one partition: that one is refused, and whoever publishes to the others, or consumes all of them,
/// goes on and is told.
/// </summary>
public sealed class RefusedPartitionTests
{
    private const int Partitions = 4,
        PerPartition = 10,
        DamagedOffset = 3;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task After_a_kill_producer_and_consumer_go_on_without_the_partition_and_with_it_once_it_is_mended()
    {
        FaultRun.RequireTier("It kills brokers.");
        const int Damaged = 2;
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        var refused = new ConcurrentQueue<PartitionRefusedEventArgs>();
        client.PartitionRefused += (_, e) => refused.Enqueue(e);
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, Partitions = Partitions },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            new ProducerOptions { Name = "shop" },
            Cancelled
        );
        string[] keys = KeysOf(producer);
        await using var consumer = new Reader(client, new ConsumeOptions { Start = StartPosition.Earliest });
        await PublishAsync(producer, keys);
        await consumer.HasAsync(Partitions * PerPartition);

        await broker.KillAsync();
        string journal = Flip(directory.Path, Damaged);
        await broker.StartAsync();

        LightQException error = await Assert.ThrowsAsync<LightQException>(async () =>
            await producer.PublishAsync("x"u8, keys[Damaged], cancellationToken: Cancelled)
        );
        Assert.Equal(ErrorCode.CorruptData, error.Code);
        Assert.StartsWith($"partition {Damaged}: ", error.Message, StringComparison.Ordinal);
        Assert.Contains($"offsets {DamagedOffset} to ", error.Message, StringComparison.Ordinal);
        foreach (string key in keys.Where((_, partition) => partition != Damaged))
        {
            Assert.Equal(
                PerPartition,
                (await producer.PublishAsync("more"u8, key, cancellationToken: Cancelled)).Offset
            );
        }

        for (int i = 0; i < 12; i++)
        {
            Assert.NotEqual(
                Damaged,
                (await producer.PublishAsync("anywhere"u8, cancellationToken: Cancelled)).Partition
            );
        }

        await consumer.HasAsync((Partitions * PerPartition) + 3 + 12);
        PartitionRefusedEventArgs told = Assert.Single(refused);
        Assert.Equal(
            ("t", Damaged, null, ErrorCode.CorruptData),
            (told.Topic, told.Partition, told.Group, told.Reason.Code)
        );

        await broker.KillAsync();
        Assert.Equal(0, (await LightQTool.RunAsync(null, "journal", "repair", journal, "--yes")).ExitCode);
        await broker.StartAsync();
        await Eventually.TrueAsync(
            async () => await TryPublishAsync(producer, keys[Damaged]),
            Patience,
            () => "The producer does not come back to the partition."
        );
        await consumer.HasAsync((Partitions * PerPartition) + 3 + 12 + 1);
        Assert.Single(refused);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    public async Task A_consumer_of_all_partitions_is_told_of_one_that_is_refused_or_ends_if_it_wants_to(int damaged)
    {
        await using TestServer server = await StartAsync();
        await server.RestartAsync(() => Flip(server.Directory, damaged));
        await using var client = new LightQClient(server.ConnectionString);
        var refused = new ConcurrentQueue<PartitionRefusedEventArgs>();
        client.PartitionRefused += (_, e) => refused.Enqueue(e);

        await using (
            var consumer = new Reader(
                client,
                new ConsumeOptions
                {
                    Start = StartPosition.Earliest,
                    Group = "g",
                    SettleMode = SettleMode.Explicit,
                }
            )
        )
        {
            await consumer.HasAsync((Partitions - 1) * PerPartition);
            Assert.DoesNotContain(consumer.Received, m => m.Partition == damaged);
            PartitionRefusedEventArgs told = Assert.Single(refused);
            Assert.Equal(
                ("t", damaged, "g", ErrorCode.CorruptData),
                (told.Topic, told.Partition, told.Group, told.Reason.Code)
            );
        }
        LightQException strict = await Assert.ThrowsAsync<LightQException>(() =>
            ReadOneAsync(client, "t", new ConsumeOptions { GapAction = GapAction.Throw })
        );
        LightQException bound = await Assert.ThrowsAsync<LightQException>(() =>
            ReadOneAsync(client, $"t/{damaged}", new ConsumeOptions())
        );
        Assert.All([strict, bound], e => Assert.Equal(ErrorCode.CorruptData, e.Code));
        Assert.Single(refused);
    }

    [Fact]
    public async Task A_topic_of_which_all_partitions_are_refused_ends_consumers_and_producers_with_the_reason()
    {
        await using TestServer server = await StartAsync();
        await server.RestartAsync(() =>
        {
            for (int partition = 0; partition < Partitions; partition++)
                Flip(server.Directory, partition);
        });
        await using var client = new LightQClient(server.ConnectionString);
        LightQException consumed = await Assert.ThrowsAsync<LightQException>(() =>
            ReadOneAsync(client, "t", new ConsumeOptions())
        );
        LightQException published = await Assert.ThrowsAsync<LightQException>(() =>
            client.CreateProducerAsync("t", cancellationToken: Cancelled)
        );
        Assert.All([consumed, published], e => Assert.Equal(ErrorCode.CorruptData, e.Code));
        Assert.Equal(
            "ready, degraded: 1 of 1 topics have failed\n",
            await server.Web.GetStringAsync("/healthz/ready", Cancelled)
        );
    }

    [Fact]
    public async Task A_producer_made_while_a_partition_is_refused_routes_around_it_only_what_has_no_key()
    {
        const int Damaged = 0;
        await using TestServer server = await StartAsync();
        await server.RestartAsync(() => Flip(server.Directory, Damaged));
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        string[] keys = KeysOf(producer);
        Assert.Equal(
            ErrorCode.CorruptData,
            Assert.Throws<LightQException>(() => producer.TryPublish("x"u8, keys[Damaged])).Code
        );
        using BatchBuilder batch = producer.CreateBatch();
        Assert.Equal(
            ErrorCode.CorruptData,
            Assert.Throws<LightQException>(() => batch.TryAdd("x"u8, keys[Damaged])).Code
        );
        await producer.WaitForRoomAsync(Cancelled);
        byte[] body = new byte[1000];
        for (int i = 0; i < 5_000; i++) // More than all windows together.
        {
            while (!producer.TryPublish(body))
                await producer.WaitForRoomAsync(Cancelled);
        }
        await producer.FlushAsync(Cancelled);
        IReadOnlyList<long> ends = (await client.Topics.GetAsync("t", Cancelled)).EndOffsets;
        Assert.Equal(-1, ends[Damaged]);
        Assert.Equal(5_000 + ((Partitions - 1) * PerPartition), ends.Where(e => e >= 0).Sum());
        Assert.Equal(
            ErrorCode.CorruptData,
            (
                await Assert.ThrowsAsync<LightQException>(() =>
                    client.CreateProducerAsync($"t/{Damaged}", cancellationToken: Cancelled)
                )
            ).Code
        );
    }

    [Fact]
    public async Task Over_gRPC_the_partition_alone_is_refused_and_a_call_for_all_of_them_says_so()
    {
        const int Damaged = 1;
        await using TestServer server = await StartAsync();
        string[] keys;
        await using (var client = new LightQClient(server.ConnectionString))
        await using (Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled))
            keys = KeysOf(producer);
        await server.RestartAsync(() => Flip(server.Directory, Damaged));

        PublishedMessage[] others =
        [
            .. keys.Where((_, partition) => partition != Damaged).Select(key => PublishStream.Text("x", key)),
            PublishStream.Text("anywhere"),
        ];
        PublishResponse published = await server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new() { Topic = "t", Messages = { others } }
        );
        Assert.DoesNotContain(published.Positions, p => p.Partition == Damaged);
        // All or nothing: the first message could have been stored.
        RpcException refused = await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<PublishRequest, PublishResponse>(
                    "Publish",
                    new()
                    {
                        Topic = "t",
                        Messages = { PublishStream.Text("x", keys[0]), PublishStream.Text("x", keys[Damaged]) },
                    }
                ),
            StatusCode.DataLoss,
            "CorruptData"
        );
        Assert.Contains($"partition {Damaged}: ", refused.Message, StringComparison.Ordinal);
        Assert.Equal(
            published.Positions.Where(p => p.Partition == 0).Max(p => p.Offset) + 1,
            server.Broker.GetTopic("t").Partitions[0].Log.EndOffset
        );

        using (var all = new ConsumeStream(server))
        {
            await all.WriteAsync(
                new ConsumeRequest
                {
                    Subscribe = new Subscribe
                    {
                        Topic = "t",
                        Earliest = true,
                        Credit = 100,
                    },
                }
            );
            RpcException error = await ControlCalls.FailsAsync(
                () => all.ReadAsync(),
                StatusCode.DataLoss,
                "CorruptData"
            );
            Assert.Contains("other partitions can be subscribed to", error.Message, StringComparison.Ordinal);
        }
        using ConsumeStream one = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "t",
                Partition = 0,
                Earliest = true,
                Credit = 100,
            }
        );
        Assert.Equal(0u, (await one.NextAsync()).Partition);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task It_shows_in_readiness_metrics_log_topic_show_doctor_and_sub()
    {
        FaultRun.RequireTier("It starts many processes.");
        const int Damaged = 2;
        await using TestServer server = await StartAsync();
        await server.CreateTopicAsync("other");
        await server.RestartAsync(() => Flip(server.Directory, Damaged));
        Assert.Equal(
            "ready, degraded: 1 of 2 topics have failed partitions\n",
            await server.Web.GetStringAsync("/healthz/ready", Cancelled)
        );
        string[] metrics = (await server.Web.GetStringAsync("/metrics", Cancelled)).Split('\n');
        Assert.Contains("lightq_topic_failed{topic=\"t\"} 1", metrics);
        Assert.Contains("lightq_partition_failed{topic=\"t\",partition=\"2\"} 1", metrics);
        Assert.Contains("lightq_partition_failed{topic=\"t\",partition=\"1\"} 0", metrics);
        Assert.DoesNotContain(
            metrics,
            m => m.StartsWith("lightq_partition_end_offset{topic=\"t\",partition=\"2\"}", StringComparison.Ordinal)
        );
        Assert.Single(
            server.Log.Errors,
            e =>
                e.StartsWith("Topic t takes no messages: partition 2: ", StringComparison.Ordinal)
                && e.Contains(server.Directory, StringComparison.Ordinal)
        );

        string shown = (await LightQTool.RunAsync(server.ConnectionString, "topic", "show", "t")).Succeeded().Text;
        Assert.Contains("refused partition 2", shown, StringComparison.Ordinal);
        Assert.Contains("lightq journal repair", shown, StringComparison.Ordinal);
        LightQServerOptions told = LightQServerOptions.InProcess with
        {
            DataDirectory = server.Directory,
            DataPort = server.DataPort,
            ControlPort = server.ControlPort,
            WebPort = server.WebPort,
        };
        List<Finding> findings = await new DoctorJob(
            told,
            LightQClientOptions.Parse(server.ConnectionString),
            OutputFormat.Table
        ).FindAsync();
        Finding topics = Assert.Single(findings, f => f.Check == "broker's topics");
        Assert.Equal(CheckResult.Warning, topics.Result);
        Assert.Contains("1 of 2 are not served as a whole; t: partition 2: ", topics.Found, StringComparison.Ordinal);

        ToolResult read = await LightQTool.RunAsync(
            server.ConnectionString,
            "sub",
            "t",
            "--from",
            "earliest",
            "--idle-exit",
            "200ms"
        );
        Assert.Equal(
            (Partitions - 1) * PerPartition,
            read.Succeeded().Text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length
        );
        Assert.Contains("nothing comes from t/2", read.Errors, StringComparison.Ordinal);
    }

    /// <summary>A topic with as many messages in each partition, each a batch of its own.</summary>
    private static async Task<TestServer> StartAsync()
    {
        TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, Partitions = Partitions },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        await PublishAsync(producer, KeysOf(producer));
        return server;
    }

    /// <summary>A key of each partition.</summary>
    private static string[] KeysOf(Producer producer) =>
        [
            .. Enumerable
                .Range(0, Partitions)
                .Select(p =>
                    Enumerable
                        .Range(0, 1000)
                        .Select(i => $"key-{i.ToString(CultureInfo.InvariantCulture)}")
                        .First(key => producer.PartitionOf(key) == p)
                ),
        ];

    private static async Task PublishAsync(Producer producer, string[] keys)
    {
        for (int i = 0; i < PerPartition; i++)
        {
            foreach (string key in keys)
                await producer.PublishAsync("message"u8, key, cancellationToken: Cancelled);
        }
    }

    private static async Task<bool> TryPublishAsync(Producer producer, string key)
    {
        try
        {
            await producer.PublishAsync("mended"u8, key, cancellationToken: Cancelled);
            return true;
        }
        catch (LightQException e) when (e.Code == ErrorCode.CorruptData)
        {
            return false;
        }
    }

    private static async Task ReadOneAsync(LightQClient client, string topic, ConsumeOptions options)
    {
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync(topic, options with { Start = StartPosition.Earliest })
            .GetAsyncEnumerator(Cancelled);
        await messages.MoveNextAsync();
    }

    /// <summary>
    /// Flips a bit in a batch's header. Without its checkpoint a log that was closed is as one whose broker was killed.
    /// </summary>
    /// <returns>The partition's directory.</returns>
    private static string Flip(string data, int partition)
    {
        string journal = Path.Combine(
            Assert.Single(Directory.GetDirectories(Path.Combine(data, "topics"))),
            partition.ToString(CultureInfo.InvariantCulture)
        );
        string segment = Assert.Single(Directory.GetFiles(journal, "*.seg"));
        byte[] bytes = File.ReadAllBytes(segment);
        int at = 4096;
        for (int i = 0; i < DamagedOffset; i++)
            at += BitConverter.ToInt32(bytes, at);
        bytes[at + 40] ^= 1;
        File.WriteAllBytes(segment, bytes);
        File.Delete(Path.Combine(journal, "checkpoint"));
        return journal;
    }

    /// <summary>Consumes the topic as long as it lives.</summary>
    private sealed class Reader : IAsyncDisposable
    {
        private readonly CancellationTokenSource _ending = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        private readonly ConcurrentQueue<(int Partition, long Offset)> _received = new();
        private readonly Task _reading;

        public Reader(LightQClient client, ConsumeOptions options) => _reading = ReadAsync(client, options);

        public IEnumerable<(int Partition, long Offset)> Received => _received;

        public Task HasAsync(int count) =>
            Eventually.TrueAsync(
                () =>
                    _reading.IsFaulted
                        ? _reading.ContinueWith(_ => false, TaskScheduler.Default)
                        : Task.FromResult(_received.Count >= count),
                Patience,
                () => $"{_received.Count} messages, not {count}; {_reading.Exception?.Message}"
            );

        public async ValueTask DisposeAsync()
        {
            await _ending.CancelAsync();
            await _reading;
            _ending.Dispose();
            Assert.Equal(_received.Count, _received.Distinct().Count());
        }

        private async Task ReadAsync(LightQClient client, ConsumeOptions options)
        {
            try
            {
                await foreach (Message message in client.ConsumeAsync("t", options).WithCancellation(_ending.Token))
                    _received.Enqueue((message.Partition, message.Offset));
            }
            catch (OperationCanceledException) when (_ending.IsCancellationRequested)
            {
                // The test is over.
            }
        }
    }
}
