using System.Text;
using System.Text.Json;
using Google.Protobuf;
using Grpc.Core;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using PublishAck = LightQ.Client.PublishAck;
using SettleOutcome = LightQ.Client.SettleOutcome;
using Subscribe = LightQ.Protocol.Control.Subscribe;
using TopicKind = LightQ.Client.TopicKind;
using TopicStats = LightQ.Client.Administration.TopicStats;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Messages with ids through the whole broker: by the SDK, over gRPC and from the command line.</summary>
public sealed class MessageIdTests
{
    private static readonly TimeSpan Window = TimeSpan.FromMinutes(10);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(TopicKind.Transient, BatchCodec.None)]
    [InlineData(TopicKind.Durable, BatchCodec.Brotli)]
    public async Task Published_twice_a_message_is_stored_once_whoever_publishes_it_and_consumers_see_its_id(
        TopicKind kind,
        BatchCodec codec
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = kind, DedupWindow = Window }, Cancelled);
        var options = new ProducerOptions { Compression = codec, CompressionMinimumBytes = 0 };
        await using Producer producer = await client.CreateProducerAsync("t", options, Cancelled);
        await using Producer other = await client.CreateProducerAsync("t", options with { Name = "p" }, Cancelled);

        PublishAck[] firsts = await Task.WhenAll(
            Enumerable.Range(0, 300).Select(i => PublishAsync(producer, $"id-{i}"))
        );
        Assert.All(firsts, ack => Assert.False(ack.IsDuplicate));
        Assert.Equal(Enumerable.Range(0, 300).Select(i => (long)i), firsts.Select(a => a.Offset));
        PublishAck[] seconds = await Task.WhenAll(Enumerable.Range(0, 300).Select(i => PublishAsync(other, $"id-{i}")));
        Assert.All(seconds, ack => Assert.True(ack.IsDuplicate));
        Assert.Equal(firsts.Select(a => a.Offset), seconds.Select(a => a.Offset));
        Assert.True(other.TryPublish("x"u8, new PublishOptions { MessageId = "id-7" }));
        await other.FlushAsync(Cancelled);
        Assert.Equal(
            (300, false),
            ((await producer.PublishAsync("plain"u8, cancellationToken: Cancelled)).Offset, false)
        );

        TopicStats stats = await client.Stats.GetTopicAsync("t", Cancelled);
        Assert.Equal((300, 301, 301), (stats.RememberedIds, stats.Duplicates, stats.EndOffset));
        var ids = new List<string?>();
        await foreach (
            Message message in client.ConsumeAsync(
                "t",
                new ConsumeOptions { Start = StartPosition.Earliest },
                Cancelled
            )
        )
        {
            Assert.Equal(message.MessageId ?? "plain", message.GetText());
            ids.Add(message.MessageId);
            if (message.Offset == 300)
                break;
        }
        Assert.Equal([.. Enumerable.Range(0, 300).Select(i => $"id-{i}"), null], ids);
    }

    [Fact]
    public async Task Without_a_key_the_id_chooses_the_partition_as_a_key_would_by_the_SDK_and_over_gRPC()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("t")
            {
                Kind = TopicKind.Durable,
                Partitions = 4,
                DedupWindow = Window,
            },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        PublishAck[] acks = await Task.WhenAll(Enumerable.Range(0, 40).Select(i => PublishAsync(producer, $"id-{i}")));
        Assert.Equal(
            Enumerable.Range(0, 40).Select(i => producer.PartitionOf($"id-{i}")),
            acks.Select(a => a.Partition)
        );
        Assert.Equal(4, acks.Select(a => a.Partition).Distinct().Count());

        var request = new PublishRequest { Topic = "t" };
        request.Messages.AddRange(
            Enumerable
                .Range(0, 41)
                .Select(i => new PublishedMessage { Body = ByteString.CopyFromUtf8($"id-{i}"), MessageId = $"id-{i}" })
        );
        request.Messages.Add(new PublishedMessage { MessageId = "id-40" });
        PublishResponse published = await server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request);
        Assert.Equal(
            acks.Select(a => ((uint)a.Partition, a.Offset, true)),
            published.Positions.Take(40).Select(p => (p.Partition, p.Offset, p.Duplicate))
        );
        Assert.Equal([false, true], published.Positions.Skip(40).Select(p => p.Duplicate));
        Assert.Equal(published.Positions[40].Offset, published.Positions[41].Offset);

        // The key is what counts where there is one: the window is that of a partition.
        PublishAck keyed = await producer.PublishAsync(
            "x"u8,
            new PublishOptions { MessageId = "id-0" },
            key: KeyOf(producer, (acks[0].Partition + 1) % 4),
            cancellationToken: Cancelled
        );
        Assert.False(keyed.IsDuplicate);
    }

    [Fact]
    public async Task Over_gRPC_an_id_that_the_topic_does_not_look_at_is_said()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("t"), Cancelled);
        var request = new PublishRequest { Topic = "t", Messages = { new PublishedMessage() } };
        request.Messages.Add(new PublishedMessage { MessageId = "id-0" });
        request.Messages.Add(new PublishedMessage { MessageId = "id-0" });
        PublishResponse published = await server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request);
        Assert.Equal(
            [(false, false), (false, true), (false, true)],
            published.Positions.Select(p => (p.Duplicate, p.IdUnchecked))
        );
    }

    [Fact]
    public async Task Over_gRPC_one_duplicate_among_a_hundred_messages_is_told_of_that_one_and_consumers_get_the_ids()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, DedupWindow = Window },
            Cancelled
        );
        (PublishStream stream, ProducerOpened _) = await PublishStream.OpenAsync(
            server,
            new OpenProducer { Topic = "t", ProducerName = "p" }
        );
        using PublishStream publishing = stream;
        await publishing.WriteAsync(new PublishedMessage { MessageId = "seven" });
        Assert.False((await publishing.ReadAsync())!.Ack.Positions[0].Duplicate);
        await publishing.WriteAsync([
            .. Enumerable
                .Range(0, 100)
                .Select(i => new PublishedMessage
                {
                    Body = ByteString.CopyFromUtf8($"{i}"),
                    MessageId =
                        i == 7 ? "seven"
                        : i % 2 == 0 ? $"{i}"
                        : "",
                }),
        ]);
        var positions = (await publishing.ReadAsync())!.Ack.Positions;
        Assert.Equal([7], Enumerable.Range(0, 100).Where(i => positions[i].Duplicate));
        Assert.Equal(0, positions[7].Offset);
        Assert.Equal(
            Enumerable.Range(1, 99).Select(i => (long)i),
            positions.Where(p => !p.Duplicate).Select(p => p.Offset)
        );

        using ConsumeStream consuming = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "t",
                Earliest = true,
                Credit = 100,
            }
        );
        DeliveredMessage[] messages = await consuming.NextAsync(4);
        Assert.Equal(["seven", "0", "", "2"], messages.Select(m => m.MessageId));

        RpcException refused = await Assert.ThrowsAsync<RpcException>(() =>
            server.Control.CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new() { Topic = "t", Messages = { new PublishedMessage { MessageId = new string('x', 129) } } }
            )
        );
        Assert.Contains("messages[0].message_id", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_message_that_was_given_up_comes_again_when_it_is_redriven_and_its_id_stays_known()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("jobs") { Kind = TopicKind.Durable, DedupWindow = Window },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await PublishAsync(producer, "job-1");
        await using var messages = client
            .ConsumeAsync("jobs", new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal(SettleOutcome.Done, await messages.Current.DeadLetterAsync("no", Cancelled));
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("jobs", "workers", Cancelled)).Lag == 0,
            TimeSpan.FromSeconds(20),
            () => "the group does not get there"
        );
        Assert.Equal(new RedriveResult(1, 0), await client.Groups.RedriveAsync("jobs", "workers", Cancelled));
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal((0L, "job-1"), (messages.Current.Offset, messages.Current.MessageId));
        Assert.True((await PublishAsync(producer, "job-1")).IsDuplicate);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_command_line_sets_a_window_publishes_with_an_id_and_says_what_was_a_duplicate()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        string url = server.ConnectionString;
        (
            await LightQTool.RunAsync(
                url,
                "topic",
                "create",
                "t",
                "--kind",
                "durable",
                "--dedup-window",
                "2m",
                "--dedup-ids",
                "1000"
            )
        ).Succeeded();
        Assert.Contains(
            "ids remembered for 2m0s, at most 1,000 a partition",
            (await LightQTool.RunAsync(url, "topic", "show", "t")).Succeeded().Text,
            StringComparison.Ordinal
        );
        JsonElement shown = Json(await LightQTool.RunAsync(url, "topic", "show", "t", "--output", "json"));
        Assert.Equal(
            (120, 1000),
            (shown.GetProperty("dedup_seconds").GetInt32(), shown.GetProperty("dedup_max_ids").GetInt32())
        );

        ToolResult first = (await LightQTool.RunAsync(url, "pub", "t", "x", "--message-id", "a")).Succeeded();
        Assert.StartsWith("Published 1 message", first.Text, StringComparison.Ordinal);
        Assert.Empty(first.Errors);
        Assert.Contains(
            "a message with the id a is stored already, at offset 0 of partition 0",
            (await LightQTool.RunAsync(url, "pub", "t", "x", "--message-id", "a")).Succeeded().Text,
            StringComparison.Ordinal
        );
        JsonElement published = Json(
            await LightQTool.RunAsync(url, "pub", "t", "x", "--message-id", "a", "--output", "json")
        );
        Assert.Equal(
            (true, 0),
            (published.GetProperty("duplicate").GetBoolean(), published.GetProperty("offset").GetInt32())
        );
        string[] pub = ["pub", "t", "x", "--message-id", "b", "--output", "json"];
        JsonElement stored = Json(await LightQTool.RunAsync(url, pub));
        Assert.False(stored.TryGetProperty("duplicate", out JsonElement _));
        string[] sub = ["sub", "t", "--from", "earliest", "--count", "2", "--format", "json"];
        string[] lines = (await LightQTool.RunAsync(url, sub)).Succeeded().Text.TrimEnd().Split('\n');
        JsonElement[] consumed = [.. lines.Select(line => JsonDocument.Parse(line).RootElement)];
        Assert.Equal(["a", "b"], consumed.Select(m => m.GetProperty("message_id").GetString()));
        foreach (string name in (string[])["offset", "message_id"])
            Assert.Equal(consumed[1].GetProperty(name).ToString(), stored.GetProperty(name).ToString());
        (await LightQTool.RunAsync(url, "pub", "t", "--message-id", "a", "--file", "lines")).FailedWith(
            2,
            "one message"
        );
        (await LightQTool.RunAsync(url, "pub", "t", "x", "--message-id", new string('x', 129))).FailedWith(
            2,
            "1 to 128 bytes"
        );
        Assert.Contains(
            "duplicates",
            (await LightQTool.RunAsync(url, "stats", "t")).Succeeded().Text,
            StringComparison.Ordinal
        );

        (
            await LightQTool.RunAsync(url, "topic", "ensure", "t", "--kind", "durable", "--dedup-window", "none")
        ).Succeeded();
        ToolResult again = (await LightQTool.RunAsync(url, "pub", "t", "x", "--message-id", "a")).Succeeded();
        Assert.StartsWith("Published 1 message", again.Text, StringComparison.Ordinal);
        string told = Assert.Single(again.Errors.TrimEnd().Split('\n'));
        Assert.StartsWith("The topic t remembers no ids: messages with the same id", told, StringComparison.Ordinal);
    }

    [Fact]
    public async Task While_a_window_waits_for_the_disk_other_topics_are_made_and_changed_and_who_wants_the_same_waits()
    {
        using var mayGoOn = new ManualResetEventSlim();
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        await using TestServer server = await TestServer.StartAsync(settings =>
            settings with
            {
                Broker = settings.Broker with { OpenEnvironment = o => new JournalEnvironment(o, files) },
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        TopicSpec before = new("t") { Kind = TopicKind.Durable },
            after = before with { DedupWindow = Window };
        string directory = (await client.Topics.CreateAsync(before, Cancelled)).Id;
        var options = new ProducerOptions { AckLevel = Durability.Memory };
        await using Producer producer = await client.CreateProducerAsync("t", options, Cancelled);
        files.Before = (operation, path) =>
        {
            if (operation == "write" && path.Contains(directory, StringComparison.Ordinal))
                mayGoOn.Wait();
        };
        Task first,
            second;
        try
        {
            await PublishAsync(producer, "a");
            first = client.Topics.EnsureAsync(after, cancellationToken: Cancelled);
            await Eventually.TrueAsync(
                () => server.Broker.GetTopic("t").Settings.DedupWindow == Window,
                TimeSpan.FromSeconds(20),
                () => "the setting does not count"
            );
            second = client.Topics.EnsureAsync(after, cancellationToken: Cancelled);
            await client.Topics.CreateAsync(new TopicSpec("made"), Cancelled);
            await client.Topics.EnsureAsync(new TopicSpec("ensured"), cancellationToken: Cancelled);
            await client.Topics.EnsureAsync(new TopicSpec("ensured") { AckLevel = Durability.Memory }, Cancelled);
            await client.Topics.EnsureAsync(new TopicSpec("ensured") { SlowPolicy = SlowPolicy.Disconnect }, Cancelled);
            Assert.Equal((false, false), (first.IsCompleted, second.IsCompleted));
        }
        finally
        {
            files.Before = static (_, _) => { };
            mayGoOn.Set();
        }
        await Task.WhenAll(first, second);
        Assert.True((await PublishAsync(producer, "a")).IsDuplicate);
    }

    [Theory]
    [InlineData(500, null, "dedup_window is")]
    [InlineData(8 * 24 * 3600 * 1000L, null, "dedup_window is")]
    [InlineData(60_000, 10_000_001, "dedup_max_ids is")]
    public async Task A_window_has_a_second_to_seven_days_and_as_many_ids_as_memory_is_good_for(
        long milliseconds,
        int? ids,
        string says
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.CreateAsync(
                new TopicSpec("t")
                {
                    Kind = TopicKind.Transient,
                    DedupWindow = TimeSpan.FromMilliseconds(milliseconds),
                    DedupMaxIds = ids,
                },
                Cancelled
            )
        );
        Assert.Equal(ErrorCode.InvalidArgument, refused.Code);
        Assert.Contains(says, refused.Message, StringComparison.Ordinal);
    }

    private static JsonElement Json(ToolResult result) => JsonDocument.Parse(result.Succeeded().Text).RootElement;

    private static string KeyOf(Producer producer, int partition) =>
        Enumerable.Range(0, 1000).Select(i => $"key-{i}").First(key => producer.PartitionOf(key) == partition);

    private static Task<PublishAck> PublishAsync(Producer producer, string id) =>
        producer
            .PublishAsync(
                Encoding.UTF8.GetBytes(id),
                new PublishOptions { MessageId = id },
                cancellationToken: Cancelled
            )
            .AsTask();
}
