using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Receipts from the SDK to the statistics.</summary>
public sealed class ReceiptTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(TopicKind.Transient, ReceiveMode.Thread)]
    [InlineData(TopicKind.Transient, ReceiveMode.Async)]
    [InlineData(TopicKind.Durable, ReceiveMode.Thread)]
    public async Task Statistics_and_metrics_count_what_every_subscriber_completed(TopicKind kind, ReceiveMode mode)
    {
        const int Messages = 500,
            Subscribers = 3; // One by one, each a batch of its own.
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                ReceiveMode = mode,
            }
        );
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = kind }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        var options = new ConsumeOptions { Start = StartPosition.Earliest, SettleMode = SettleMode.Explicit };
        Task[] consuming = [.. Enumerable.Range(0, Subscribers).Select(ConsumeAsync)];
        for (int i = 0; i < Messages; i++)
            await producer.PublishAsync(new byte[100], cancellationToken: Cancelled);
        await Task.WhenAll(consuming);

        Assert.Equal(Messages * Subscribers, (await client.Stats.GetTopicAsync("t", Cancelled)).MessagesSettled);
        Assert.Contains(
            $"lightq_topic_messages_settled_total{{topic=\"t\"}} {Messages * Subscribers}\n",
            await server.Web.GetStringAsync("/metrics", Cancelled),
            StringComparison.Ordinal
        );

        async Task ConsumeAsync(int number)
        {
            int taken = 0;
            await foreach (Message message in client.ConsumeAsync("t", options).WithCancellation(Cancelled))
            {
                // The last one is waited for, so that all before it have arrived, too.
                if (++taken < Messages)
                {
                    message.QueueCompletion();
                    continue;
                }
                await message.CompleteAsync(Cancelled);
                return;
            }
        }
    }

    [Fact]
    public async Task A_message_completed_twice_is_refused_the_second_time_and_counts_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        await producer.PublishAsync("x"u8.ToArray(), cancellationToken: Cancelled);
        await using var messages = client
            .ConsumeAsync("t", new() { Start = StartPosition.Earliest, SettleMode = SettleMode.Explicit }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());

        Assert.Equal(SettleOutcome.Done, await messages.Current.CompleteAsync(Cancelled));
        Assert.Equal(SettleOutcome.Unknown, await messages.Current.CompleteAsync(Cancelled));

        Assert.Equal(1, (await client.Stats.GetTopicAsync("t", Cancelled)).MessagesSettled);
    }

    [Fact]
    public async Task A_group_with_explicit_settlement_is_refused_by_name()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        await using var client = new LightQClient(server.ConnectionString);
        await using var messages = client
            .ConsumeAsync("t", new() { Group = "g", SettleMode = SettleMode.Explicit }, Cancelled)
            .GetAsyncEnumerator(Cancelled);

        LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
            await messages.MoveNextAsync().AsTask().WaitAsync(Patience, Cancelled)
        );

        Assert.Equal(ErrorCode.NotSupported, refused.Code);
    }
}
