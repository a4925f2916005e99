using System.Collections.Concurrent;
using System.Text;
using System.Text.Json;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Delayed messages that wait are listed and cancelled, and what is cancelled never comes.</summary>
public sealed class ScheduledMessagesTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly ManualTime _time = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(BatchCodec.None)]
    [InlineData(BatchCodec.Brotli)]
    public async Task Messages_of_one_batch_are_cancelled_one_by_one_and_stay_so_after_a_kill(BatchCodec codec)
    {
        await using TestServer server = await StartAsync();
        using var killed = new TemporaryDirectory();
        await using (LightQClient client = await ConnectAsync(server))
        {
            MessagePosition[] acks = await PublishAsync(client, codec, TimeSpan.FromHours(1), 6);
            Assert.Equal(["0/0", "0/1", "0/2", "0/3", "0/4", "0/5"], acks.Select(a => a.ToString()));
            await PublishAsync(client, codec, TimeSpan.FromMinutes(30), 1);

            Assert.True(await client.Messages.CancelScheduledAsync("t", acks[2], Cancelled));
            Assert.False(await client.Messages.CancelScheduledAsync("t", acks[2], Cancelled));
            // Several at once, one of them twice, one that never was.
            Assert.Equal(
                [true, false, true, false],
                await client.Messages.CancelScheduledAsync("t", [acks[0], acks[0], acks[5], new(0, 4711)], Cancelled)
            );
            Assert.Equal(["0/6 body 0", "0/1 body 1", "0/3 body 3", "0/4 body 4"], await ListAsync(client));
            Assert.Equal(4, (await client.Stats.GetTopicAsync("t", Cancelled)).DelayedMessages);
            DataDirectory.CopyAsKilled(server.Directory, killed.Path);
        }

        await using TestServer recovered = await StartAsync(killed.Path);
        await using var again = new LightQClient(recovered.ConnectionString);
        Assert.Equal(["0/6 body 0", "0/1 body 1", "0/3 body 3", "0/4 body 4"], await ListAsync(again));
        Assert.True(await again.Messages.CancelScheduledAsync("t", new MessagePosition(0, 4), Cancelled));
        _time.Advance(TimeSpan.FromHours(2));
        Assert.Equal(["body 0", "body 1", "body 3"], await ReadAsync(again, 3));
        await Eventually.TrueAsync(
            async () => (await again.Stats.GetTopicAsync("t", Cancelled)).DelayedMessages == 0,
            Patience,
            () => "Messages wait."
        );
        Assert.Empty(await ListAsync(again));
        Assert.False(await again.Messages.CancelScheduledAsync("t", new MessagePosition(0, 1), Cancelled));
    }

    [Fact]
    public async Task A_group_and_a_reader_pass_over_cancelled_messages_without_a_gap_or_a_backlog()
    {
        await using TestServer server = await StartAsync();
        await using LightQClient client = await ConnectAsync(server);
        MessagePosition[] acks = await PublishAsync(client, BatchCodec.None, TimeSpan.FromHours(1), 2);
        Assert.Equal([true, true], await client.Messages.CancelScheduledAsync("t", acks, Cancelled));
        await client.PublishAsync("t", "now", cancellationToken: Cancelled);
        _time.Advance(TimeSpan.FromHours(2));

        var options = new ConsumeOptions { Group = "g", SettleMode = SettleMode.Explicit };
        using CancellationTokenSource limit = Limit();
        await foreach (Message message in client.ConsumeAsync("t", options, limit.Token))
        {
            Assert.Equal("now", message.GetText());
            await message.CompleteAsync(limit.Token);
            break;
        }
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("t", "g", Cancelled)).Lag == 0,
            Patience,
            () => "The group has a backlog."
        );
        Assert.Equal(["now"], await ReadAsync(client, 1));
    }

    [Fact]
    public async Task Cancelling_while_messages_become_due_cancels_or_delivers_each_and_says_which()
    {
        const int Count = 300;
        await using TestServer server = await StartAsync();
        await using LightQClient client = await ConnectAsync(server);
        var positions = new ConcurrentDictionary<MessagePosition, string>();
        await using (Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled))
        {
            Task[] published =
            [
                .. Enumerable
                    .Range(0, Count)
                    .Select(async i =>
                    {
                        PublishAck ack = await producer.PublishAsync(
                            Encoding.UTF8.GetBytes($"{i}"),
                            new PublishOptions { Delay = TimeSpan.FromMilliseconds(10 * (1 + (i / 3))) },
                            cancellationToken: Cancelled
                        );
                        positions[ack.Position] = $"{i}";
                    }),
            ];
            await Task.WhenAll(published);
        }
        var cancelled = new ConcurrentBag<string>();
        await Parallel.ForEachAsync(
            positions,
            new ParallelOptions { MaxDegreeOfParallelism = 4, CancellationToken = Cancelled },
            async (position, token) =>
            {
                _time.Advance(TimeSpan.FromMilliseconds(4)); // More is due with each call, until all is.
                if (await client.Messages.CancelScheduledAsync("t", position.Key, token))
                    cancelled.Add(position.Value);
            }
        );
        _time.Advance(TimeSpan.FromSeconds(2));
        List<string> delivered = await ReadAsync(client, Count - cancelled.Count);
        Assert.Equal(
            Enumerable.Range(0, Count).Select(i => $"{i}").Order(StringComparer.Ordinal),
            delivered.Concat(cancelled).Order(StringComparer.Ordinal)
        );
    }

    [Fact]
    public async Task Pages_and_partitions_are_listed_whole_and_in_order()
    {
        await using TestServer server = await StartAsync();
        await using LightQClient client = await ConnectAsync(server, partitions: 3);
        for (int i = 0; i < 12; i++)
        {
            await client.PublishAsync(
                $"t/{i % 3}",
                $"{i}",
                options: new PublishOptions { Delay = TimeSpan.FromHours(20 - (i / 3)), MessageId = $"id-{i}" },
                cancellationToken: Cancelled
            );
        }
        List<StoredMessage> all = [];
        await foreach (StoredMessage message in client.Messages.ListScheduledAsync("t", 1, Cancelled))
            all.Add(message);
        Assert.Equal(
            ["id-9", "id-6", "id-3", "id-0", "id-10", "id-7", "id-4", "id-1", "id-11", "id-8", "id-5", "id-2"],
            all.Select(m => m.MessageId)
        );
        Assert.All(all, m => Assert.Equal((1, StoredMessageState.Delayed), (m.Body.Length, m.State)));
        Assert.Equal(_time.GetUtcNow() + TimeSpan.FromHours(17), all[0].DeliverAt!.Value, TimeSpan.FromMinutes(1));
        Assert.Equal(4, (await ListAsync(client, "t/1")).Count);

        // Page by page, over HTTP: seven at a time, then the rest.
        var ids = new List<string?>();
        string next = "";
        do
        {
            JsonAnswer page = await server.SendAsync(
                "POST",
                "/v1/topics/t:listScheduled",
                $$"""{"max_messages":5{{next}}}"""
            );
            JsonElement body = page.Body;
            if (body.TryGetProperty("messages", out JsonElement messages))
                ids.AddRange(messages.EnumerateArray().Select(m => m.GetProperty("messageId").GetString()));
            next =
                body.TryGetProperty("next", out JsonElement at) && at.ValueKind == JsonValueKind.Object
                    ? $",\"next\":{at.GetRawText()}"
                    : "";
        } while (next.Length != 0);
        Assert.Equal(all.Select(m => m.MessageId), ids);
    }

    [Fact]
    public async Task The_tool_and_HTTP_cancel_and_what_cannot_be_cancelled_says_why()
    {
        await using TestServer server = await StartAsync();
        await using LightQClient client = await ConnectAsync(server);
        await PublishAsync(client, BatchCodec.None, TimeSpan.FromHours(1), 3);
        await client.Topics.CreateAsync(new TopicSpec("fast") { Kind = TopicKind.Transient }, Cancelled);

        string listed = (await LightQTool.RunAsync(server.ConnectionString, "scheduled", "list", "t")).Succeeded().Text;
        Assert.StartsWith("0/0  ", listed, StringComparison.Ordinal);
        Assert.Contains("body 2", listed, StringComparison.Ordinal);
        ToolResult result = await LightQTool.RunAsync(
            server.ConnectionString,
            "scheduled",
            "cancel",
            "t",
            "--offset",
            "1",
            "--offset",
            "7"
        );
        Assert.Equal(1, result.ExitCode);
        Assert.Equal(
            "0/1: cancelled\n0/7: no delayed message waits: delivered, cancelled before, or none\n",
            result.Text
        );
        await client.Topics.CreateAsync(
            new TopicSpec("spread") { Kind = TopicKind.Durable, Partitions = 2 },
            Cancelled
        );
        (
            await LightQTool.RunAsync(server.ConnectionString, "scheduled", "cancel", "spread", "--offset", "1")
        ).FailedWith(2, "spread has 2 partitions");
        JsonAnswer answer = await server.SendAsync("POST", "/v1/topics/t:cancelScheduled", """{"offsets":[2,1]}""");
        Assert.Equal(
            ["CANCEL_OUTCOME_CANCELLED", "CANCEL_OUTCOME_NOT_SCHEDULED"],
            answer["outcomes"].EnumerateArray().Select(o => o.GetString()!)
        );
        Assert.Equal(["0/0 body 0"], await ListAsync(client));

        Assert.Equal(ErrorCode.NotSupported, await CodeAsync("fast", new(0, 0)));
        Assert.Equal(ErrorCode.UnknownTopic, await CodeAsync("none", new(0, 0)));
        Assert.Equal(ErrorCode.UnknownPartition, await CodeAsync("t", new(7, 0)));
        Assert.Empty(await ListAsync(client, "fast"));

        async Task<ErrorCode> CodeAsync(string topic, MessagePosition position) =>
            (
                await Assert.ThrowsAsync<LightQException>(() =>
                    client.Messages.CancelScheduledAsync(topic, position, Cancelled)
                )
            ).Code;
    }

    private static async Task<List<string>> ListAsync(LightQClient client, string topic = "t")
    {
        var all = new List<string>();
        await foreach (StoredMessage message in client.Messages.ListScheduledAsync(topic, cancellationToken: Cancelled))
            all.Add($"{message.Position} {Encoding.UTF8.GetString(message.Body.Span).Split(',')[0]}");
        return all;
    }

    private static async Task<List<string>> ReadAsync(LightQClient client, int count)
    {
        var all = new List<string>();
        var options = new ConsumeOptions { Start = StartPosition.Earliest, GapAction = GapAction.Throw };
        using CancellationTokenSource limit = Limit();
        await foreach (Message message in client.ConsumeAsync("t", options, limit.Token))
        {
            all.Add(message.GetText().Split(',')[0]);
            if (all.Count == count)
                break;
        }
        return all;
    }

    private static CancellationTokenSource Limit()
    {
        var limit = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        limit.CancelAfter(Patience);
        return limit;
    }

    /// <summary>Its connections, and the client's, keep the machine's clock: no peer answers within a jump.</summary>
    private Task<TestServer> StartAsync(string? directory = null) =>
        TestServer.StartAsync(o =>
            o with
            {
                DataDirectory = directory,
                TimeProvider = _time,
                ConnectionTime = TimeProvider.System,
            }
        );

    private async Task<LightQClient> ConnectAsync(TestServer server, int partitions = 1)
    {
        var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                TimeProvider = _time,
                ConnectionTime = TimeProvider.System,
            }
        );
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, Partitions = partitions },
            Cancelled
        );
        return client;
    }

    /// <summary>Publishes messages that share a batch.</summary>
    private static async Task<MessagePosition[]> PublishAsync(
        LightQClient client,
        BatchCodec codec,
        TimeSpan delay,
        int count
    )
    {
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            new ProducerOptions { Compression = codec, CompressionMinimumBytes = 0 },
            Cancelled
        );
        using BatchBuilder batch = producer.CreateBatch(new PublishOptions { Delay = delay });
        for (int i = 0; i < count; i++)
            Assert.True(batch.TryAdd(Encoding.UTF8.GetBytes($"body {i},{new string('x', 100)}"), $"{i}"));
        PublishAck ack = await producer.PublishAsync(batch, Cancelled).AsTask().WaitAsync(Patience, Cancelled);
        return [.. Enumerable.Range(0, count).Select(i => ack.Position with { Offset = ack.Offset + i })];
    }
}
