using LightQ.Client;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// A reader is told when it has read what there was, and comes back to where it was in each partition.
/// </summary>
public sealed class CaughtUpTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_reader_has_caught_up_behind_its_last_message_also_where_what_follows_is_passed_over()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ConnectAsync(server, partitions: 4);
        await PublishAsync(client, "t/0", "a", "b", "c");
        await PublishAsync(client, "t/1", "d");
        await client.Topics.TruncateAsync("t", null, 1, Cancelled); // Partition 1 is empty, and does not begin at 0.
        PublishAck delayed = await DelayAsync(client, "t/0");
        await DelayAsync(client, "t/2");
        await client.Messages.CancelScheduledAsync("t", delayed.Position, Cancelled);

        var seen = new List<string>();
        var caughtUp = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            OnCaughtUp = () =>
            {
                seen.Add("caught up");
                caughtUp.SetResult();
            },
        };
        using CancellationTokenSource limit = Limit();
        Task published = PublishAfterAsync(caughtUp.Task.WaitAsync(limit.Token));
        await foreach (Message message in client.ConsumeAsync("t", options, limit.Token))
        {
            seen.Add(message.GetText());
            if (message.GetText() == "late")
                break;
        }
        await published;
        Assert.Equal(["a", "b", "c", "caught up", "late"], seen);

        async Task PublishAfterAsync(Task task)
        {
            await task;
            await PublishAsync(client, "t/3", "late");
        }
    }

    [Fact]
    public async Task A_reader_of_an_empty_topic_has_caught_up_at_once_and_one_from_now_on_too()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ConnectAsync(server, partitions: 1);
        await CaughtUpAsync(StartPosition.Earliest);
        await PublishAsync(client, "t", "a");
        await CaughtUpAsync(StartPosition.Latest);
        await DelayAsync(client, "t");
        await CaughtUpAsync(StartPosition.Offset(3)); // What is there is not due.

        async Task CaughtUpAsync(StartPosition start)
        {
            var caughtUp = new TaskCompletionSource();
            var options = new ConsumeOptions { Start = start, OnCaughtUp = caughtUp.SetResult };
            using CancellationTokenSource limit = Limit();
            await using IAsyncEnumerator<Message> reader = client
                .ConsumeAsync("t", options, limit.Token)
                .GetAsyncEnumerator(limit.Token);
            ValueTask<bool> next = reader.MoveNextAsync();
            await caughtUp.Task.WaitAsync(limit.Token);
            Assert.False(next.IsCompleted);
            await PublishAsync(client, "t", "next");
            Assert.True(await next);
        }
    }

    [Fact]
    public async Task A_checkpoint_has_a_position_for_each_partition_and_passes_over_one_that_breaks_its_reader()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ConnectAsync(server, partitions: 3);
        await PublishAsync(client, "t/0", "a0", "a1", "a2");
        await PublishAsync(client, "t/1", "b0", "b1");
        await PublishAsync(client, "t/2", "c0");
        var checkpoint = new Dictionary<int, MessagePosition>();
        using CancellationTokenSource limit = Limit();
        await foreach (Message message in client.ConsumeAsync("t", From([]), limit.Token))
        {
            if (message.GetText() is "a0" or "b0")
                checkpoint[message.Partition] = message.Position;
            if (checkpoint.Count == 2)
                break;
        }
        Assert.Equal(["a1", "a2", "b1", "c0"], await ReadAsync(4));
        // "a1" breaks its reader: it is the last that was seen.
        checkpoint[0] = MessagePosition.Parse("0/1");
        Assert.Equal(["a2", "b1", "c0"], await ReadAsync(3));

        Assert.Throws<ArgumentException>(() => From([new(0, 1), new(0, 2)]));
        Assert.Throws<ArgumentException>(() => From([new(0, -1)]));
        Assert.Throws<ArgumentException>(() =>
            client.ConsumeAsync("t", From([new(0, 1)]) with { Group = "g" }, TestContext.Current.CancellationToken)
        );
        Assert.Throws<ArgumentException>(() =>
            client.ConsumeAsync(
                "t",
                new ConsumeOptions { Group = "g", OnCaughtUp = static () => { } },
                TestContext.Current.CancellationToken
            )
        );
        Assert.False(MessagePosition.TryParse("1", null, out _));
        Assert.False(MessagePosition.TryParse("1/-1", null, out _));
        Assert.Equal("\"3/1234\"", System.Text.Json.JsonSerializer.Serialize(new MessagePosition(3, 1234)));

        async Task<IEnumerable<string>> ReadAsync(int count)
        {
            var read = new List<string>();
            await foreach (Message message in client.ConsumeAsync("t", From([.. checkpoint.Values]), limit.Token))
            {
                read.Add(message.GetText());
                if (read.Count == count)
                    break;
            }
            return read.Order(StringComparer.Ordinal);
        }

        static ConsumeOptions From(MessagePosition[] positions) =>
            new() { Start = StartPosition.Earliest, StartAfter = positions };
    }

    [Theory]
    [InlineData(GapAction.Continue, 999)]
    [InlineData(GapAction.Continue, long.MaxValue)]
    [InlineData(GapAction.Throw, 999)]
    public async Task A_position_of_a_log_that_is_gone_is_a_gap_and_what_comes_then_is_read(GapAction action, long seen)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ConnectAsync(server, partitions: 1);
        await PublishAsync(client, "t", "a", "b");
        var caughtUp = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var gaps = new List<MessageGap>();
        var options = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            StartAfter = [new MessagePosition(0, seen)],
            GapAction = action,
            OnGap = gaps.Add,
            OnCaughtUp = () => caughtUp.TrySetResult(),
        };
        using CancellationTokenSource limit = Limit();
        await using IAsyncEnumerator<Message> reader = client
            .ConsumeAsync("t", options, limit.Token)
            .GetAsyncEnumerator(limit.Token);
        ValueTask<bool> next = reader.MoveNextAsync();
        if (action == GapAction.Throw)
        {
            LightQException gone = await Assert.ThrowsAsync<LightQException>(async () => await next);
            Assert.Equal(ErrorCode.StaleEpoch, gone.Code);
        }
        else
        {
            await caughtUp.Task.WaitAsync(limit.Token);
            await PublishAsync(client, "t", "c");
            Assert.True(await next);
            Assert.Equal("0/2 c", $"{reader.Current.Position} {reader.Current.GetText()}");
        }
        Assert.Equal([new MessageGap("t", 2, Math.Min(seen, long.MaxValue - 1), GapReason.Truncated, 0)], gaps);
    }

    private static CancellationTokenSource Limit()
    {
        var limit = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        limit.CancelAfter(Patience);
        return limit;
    }

    private static async Task<LightQClient> ConnectAsync(TestServer server, int partitions)
    {
        var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, Partitions = partitions },
            Cancelled
        );
        return client;
    }

    private static async Task PublishAsync(LightQClient client, string topic, params string[] bodies)
    {
        foreach (string body in bodies)
            await client.PublishAsync(topic, body, cancellationToken: Cancelled);
    }

    private static async Task<PublishAck> DelayAsync(LightQClient client, string topic) =>
        await client.PublishAsync(
            topic,
            "delayed",
            options: new PublishOptions { Delay = TimeSpan.FromHours(1) },
            cancellationToken: Cancelled
        );
}
