using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Consumers that are asked for messages, on a real broker.</summary>
public sealed class FetchTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Fetches_share_one_subscription_and_take_what_is_there()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await PublishAsync(producer, 0, 25);
        int subscriptions = 0;
        await using MessageConsumer consumer = client.CreateConsumer(
            "jobs",
            Explicit() with
            {
                MaxInFlight = 10,
                OnSubscribed = _ => subscriptions++,
            }
        );

        var taken = new List<int>();
        while (taken.Count < 25)
        {
            IReadOnlyList<Message> some = await consumer.FetchAsync(10, Patience, cancellationToken: Cancelled);
            Assert.InRange(some.Count, 1, 10);
            foreach (Message message in some)
            {
                taken.Add(BitConverter.ToInt32(message.BodySpan));
                Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancelled));
            }
        }
        Assert.Equal(Enumerable.Range(0, 25), taken);
        Assert.Empty(await consumer.FetchAsync(10, TimeSpan.FromMilliseconds(20), cancellationToken: Cancelled));

        await PublishAsync(producer, 25, 5);
        Assert.Equal(5, (await consumer.FetchAsync(5, Patience, Patience, Cancelled)).Count);
        Assert.Equal(1, subscriptions);
    }

    [Fact]
    public async Task A_cancelled_fetch_loses_nothing_and_only_one_runs_at_a_time()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await using MessageConsumer consumer = client.CreateConsumer("jobs", new() { Start = StartPosition.Earliest });
        using var impatient = new CancellationTokenSource();
        Task<IReadOnlyList<Message>> fetch = consumer.FetchAsync(1, Patience, cancellationToken: impatient.Token);
        await Assert.ThrowsAsync<InvalidOperationException>(() =>
            consumer.FetchAsync(1, Patience, cancellationToken: Cancelled)
        );
        await impatient.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => fetch);

        await PublishAsync(producer, 0, 3);

        Assert.Equal(3, (await consumer.FetchAsync(3, TimeSpan.MaxValue, Patience, Cancelled)).Count);
    }

    [Fact]
    public async Task An_error_ends_the_subscription_and_the_next_fetch_opens_another()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        MessageConsumer consumer = client.CreateConsumer("jobs", new() { Start = StartPosition.Earliest });
        Assert.Equal(
            ErrorCode.UnknownTopic,
            (
                await Assert.ThrowsAsync<LightQException>(() =>
                    consumer.FetchAsync(1, Patience, cancellationToken: Cancelled)
                )
            ).Code
        );
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        await PublishAsync(producer, 0, 1);

        Assert.Single(await consumer.FetchAsync(5, Patience, cancellationToken: Cancelled));

        await consumer.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(() =>
            consumer.FetchAsync(1, Patience, cancellationToken: Cancelled)
        );
    }

    private static ConsumeOptions Explicit() => new() { Group = "workers", SettleMode = SettleMode.Explicit };

    private static async Task PublishAsync(Producer producer, int first, int count)
    {
        using BatchBuilder batch = producer.CreateBatch();
        for (int i = first; i < first + count; i++)
            Assert.True(batch.TryAdd(BitConverter.GetBytes(i)));
        await producer.PublishAsync(batch, Cancelled);
    }
}
