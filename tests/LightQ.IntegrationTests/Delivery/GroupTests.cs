using LightQ.Client;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Groups that settle, through the SDK and a real broker.</summary>
public sealed class GroupTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task A_batch_of_600_jobs_is_shared_by_workers_that_take_one_at_a_time(ReceiveMode mode)
    {
        const int Jobs = 600,
            Workers = 4;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                ReceiveMode = mode,
            }
        );
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        using BatchBuilder batch = producer.CreateBatch();
        for (int i = 0; i < Jobs; i++)
            Assert.True(batch.TryAdd(BitConverter.GetBytes(i)));
        await producer.PublishAsync(batch, Cancelled);

        var done = new List<int>[Workers];
        int left = Jobs;
        using var finished = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        await Task.WhenAll(Enumerable.Range(0, Workers).Select(WorkAsync));

        Assert.Equal(Enumerable.Range(0, Jobs), done.SelectMany(d => d).Order());
        Assert.All(done, d => Assert.True(d.Count > Jobs / Workers / 4, $"one worker got {d.Count} of {Jobs}"));
        Assert.Equal(Jobs, (await client.Stats.GetTopicAsync("jobs", Cancelled)).MessagesSettled);

        async Task WorkAsync(int worker)
        {
            done[worker] = [];
            try
            {
                await foreach (Message job in client.ConsumeAsync("jobs", Workers1()).WithCancellation(finished.Token))
                {
                    Assert.Equal(1, job.DeliveryCount);
                    done[worker].Add(BitConverter.ToInt32(job.BodySpan));
                    await Task.Yield();
                    Assert.Equal(SettleOutcome.Done, await job.CompleteAsync(Cancelled));
                    if (Interlocked.Decrement(ref left) == 0)
                        await finished.CancelAsync();
                }
            }
            catch (OperationCanceledException) when (finished.IsCancellationRequested)
            {
                // All jobs are done.
            }
        }

        static ConsumeOptions Workers1() =>
            new()
            {
                Group = "workers",
                SettleMode = SettleMode.Explicit,
                MaxInFlight = 1,
            };
    }

    [Fact]
    public async Task What_a_lost_member_held_comes_again_at_once_and_what_it_says_later_is_told_to_be_too_late()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await producer.PublishAsync("a"u8.ToArray(), cancellationToken: Cancelled);
        var doomed = new LightQClient(server.ConnectionString);
        IAsyncEnumerator<Message> first = doomed
            .ConsumeAsync("jobs", Explicit(), Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await first.MoveNextAsync());
        Message held = first.Current;
        Assert.InRange(held.LockedUntil, DateTimeOffset.UtcNow, DateTimeOffset.UtcNow.AddSeconds(30));

        await doomed.DisposeAsync();

        await using IAsyncEnumerator<Message> second = client
            .ConsumeAsync("jobs", Explicit(), Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await second.MoveNextAsync());
        Assert.Equal("a", second.Current.GetText());
        Assert.Equal(SettleOutcome.LockExpired, await held.CompleteAsync(Cancelled));
        Assert.Equal(SettleOutcome.Done, await second.Current.CompleteAsync(Cancelled));
        Assert.Equal(SettleOutcome.Unknown, await second.Current.CompleteAsync(Cancelled));
    }

    [Fact]
    public async Task A_message_is_abandoned_renewed_and_given_up_with_its_headers()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("jobs") { Kind = TopicKind.Durable, DeadLetterTopic = "graveyard" },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        var headers = new MessageHeaders();
        headers.Add("type", "order");
        await producer.PublishAsync("poison"u8.ToArray(), "42", headers, Cancelled);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync("jobs", Explicit(), Cancelled)
            .GetAsyncEnumerator(Cancelled);

        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal(SettleOutcome.Done, await jobs.Current.RenewLockAsync(Cancelled));
        Assert.Equal(SettleOutcome.Done, await jobs.Current.AbandonAsync(TimeSpan.Zero, cancellationToken: Cancelled));
        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal(2, jobs.Current.DeliveryCount);
        Assert.Equal(SettleOutcome.Done, await jobs.Current.DeadLetterAsync("no such customer", Cancelled));

        Message dead = await FirstOfAsync(client, "graveyard");
        Assert.Equal(
            ("poison", "42", "order", "no such customer", "0", "workers", "2"),
            (
                dead.GetText(),
                System.Text.Encoding.UTF8.GetString(dead.Key.Span),
                Header(dead, "type"),
                Header(dead, DeadLetterHeader.Reason),
                Header(dead, DeadLetterHeader.Offset),
                Header(dead, DeadLetterHeader.Group),
                Header(dead, DeadLetterHeader.Deliveries)
            )
        );
    }

    [Fact]
    public async Task A_message_of_a_topic_with_the_longest_name_is_given_up_to_one_with_a_longer_name()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.CreateAsync(new TopicSpec(new string('t', 196)) { Kind = TopicKind.Durable }, Cancelled)
        );
        Assert.Equal(ErrorCode.InvalidArgument, refused.Code);
        Assert.Contains("allowed: 195", refused.Message, StringComparison.Ordinal);
        string name = new('t', 195);
        await client.Topics.CreateAsync(new TopicSpec(name) { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(name, cancellationToken: Cancelled);
        await producer.PublishAsync("poison"u8.ToArray(), cancellationToken: Cancelled);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync(name, Explicit(), Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await jobs.MoveNextAsync());

        Assert.Equal(SettleOutcome.Done, await jobs.Current.DeadLetterAsync("no such customer", Cancelled));

        Assert.Equal("poison", (await FirstOfAsync(client, name + ".dead")).GetText());
    }

    [Fact]
    public async Task Broadcast_subscribers_get_everything_beside_a_group_and_batches_show_their_range_only()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        using BatchBuilder batch = producer.CreateBatch();
        for (int i = 0; i < 10; i++)
            Assert.True(batch.TryAdd(BitConverter.GetBytes(i)));
        await producer.PublishAsync(batch, Cancelled);
        await using IAsyncEnumerator<MessageBatch> jobs = client
            .ConsumeBatchesAsync("jobs", Explicit() with { MaxInFlight = 4 }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        var seen = new List<int>();
        while (seen.Count < 10)
        {
            Assert.True(await jobs.MoveNextAsync());
            Assert.InRange(jobs.Current.Count, 1, 4);
            foreach (RecordView record in jobs.Current)
                seen.Add(BitConverter.ToInt32(record.Body));
            Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
        }

        Assert.Equal(Enumerable.Range(0, 10), seen);
        int all = 0;
        await foreach (
            Message message in client.ConsumeAsync("jobs", new() { Start = StartPosition.Earliest }, Cancelled)
        )
        {
            Assert.Equal(all++, BitConverter.ToInt32(message.BodySpan));
            if (all == 10)
                break;
        }
    }

    private static ConsumeOptions Explicit() => new() { Group = "workers", SettleMode = SettleMode.Explicit };

    private static string Header(Message message, string name) =>
        message.TryGetHeader(name, out ReadOnlySpan<byte> value) ? System.Text.Encoding.UTF8.GetString(value) : "";

    private static async Task<Message> FirstOfAsync(LightQClient client, string topic)
    {
        while (!await client.Topics.ListAsync(Cancelled).AnyAsync(t => t.Name == topic, Cancelled))
            await Task.Delay(10, Cancelled);
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync(topic, new() { Start = StartPosition.Earliest })
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        return messages.Current;
    }
}
