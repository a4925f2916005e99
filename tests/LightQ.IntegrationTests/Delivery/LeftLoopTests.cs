using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// Loops that are left, by an exception, a break or a cancellation, with messages that they have not settled; and loops
/// that collect messages before they settle any.
/// </summary>
public sealed class LeftLoopTests
{
    private const int Jobs = 5;
    private static readonly TimeSpan Lock = TimeSpan.FromSeconds(1);

    public enum Way
    {
        Loop,
        Chunks,
        Batches,
        Fetches,
    }

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private static ConsumeOptions Explicit => new() { Group = "workers", SettleMode = SettleMode.Explicit };

    [Theory]
    [InlineData(Way.Loop, false)]
    [InlineData(Way.Loop, true)]
    [InlineData(Way.Chunks, false)]
    [InlineData(Way.Batches, false)]
    [InlineData(Way.Fetches, false)]
    [InlineData(Way.Fetches, true)]
    public async Task A_message_that_always_throws_becomes_a_letter_and_the_others_do_not(Way way, bool isDisposed)
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient admin = broker.CreateClient();
        await PublishAsync(admin);
        LightQClient client = broker.CreateClient();
        List<int> counts = [];
        HashSet<int> done = [];
        for (int round = 0; round < 3; round++)
        {
            try
            {
                await WorkAsync(client, way, WorkOnAsync);
            }
            catch (FormatException)
            {
                // As a service that begins its loop anew.
            }
            if (isDisposed)
            {
                await client.DisposeAsync();
                client = broker.CreateClient();
            }
        }
        await client.DisposeAsync();

        Assert.Equal([1, 2, 3], counts);
        List<DeadLetterInfo> letters = [];
        await Eventually.TrueAsync(
            async () => (letters = await LettersAsync(admin)).Count != 0,
            TimeSpan.FromSeconds(30),
            () => "no letter comes"
        );
        DeadLetterInfo letter = Assert.Single(letters);
        Assert.Equal((0L, 3), (letter.OriginalOffset, letter.Deliveries));

        async Task<bool> WorkOnAsync(Message message)
        {
            if (message.Offset == 0)
            {
                counts.Add(message.DeliveryCount);
                throw new FormatException();
            }
            await message.CompleteAsync(Cancelled);
            done.Add((int)message.Offset);
            return done.Count < Jobs - 1;
        }
    }

    [Theory]
    [InlineData(Way.Loop)]
    [InlineData(Way.Batches)]
    public async Task A_loop_that_is_cancelled_counts_nothing_also_when_its_client_goes_at_once(Way way)
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient admin = broker.CreateClient();
        await PublishAsync(admin);
        List<int> counts = [];
        for (int deploy = 0; deploy < 8; deploy++)
        {
            await using LightQClient client = broker.CreateClient();
            using var stopping = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
                WorkAsync(
                    client,
                    way,
                    async message =>
                    {
                        counts.Add(message.DeliveryCount);
                        await stopping.CancelAsync();
                        stopping.Token.ThrowIfCancellationRequested();
                        return true;
                    },
                    stopping.Token
                )
            );
        }
        Assert.Equal([1, 1, 1, 1, 1, 1, 1, 1], counts);
    }

    [Fact]
    public async Task A_loop_that_leaves_a_batch_in_the_middle_counts_one_message_and_not_the_rest()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using (Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled))
        {
            using BatchBuilder builder = producer.CreateBatch();
            for (int i = 0; i < Jobs; i++)
                Assert.True(builder.TryAdd("x"u8));
            await producer.PublishAsync(builder, Cancelled);
        }
        await foreach (MessageBatch batch in client.ConsumeBatchesAsync("jobs", Explicit, Cancelled))
        {
            await batch.CompleteAsync(2, Cancelled);
            break;
        }

        Dictionary<long, int> counts = [];
        await foreach (Message message in client.ConsumeAsync("jobs", Explicit, Cancelled))
        {
            counts.Add(message.Offset, message.DeliveryCount);
            await message.CompleteAsync(Cancelled);
            if (counts.Count == Jobs - 2)
                break;
        }
        Assert.Equal(2, counts[2]);
        Assert.All(counts.Where(c => c.Key != 2), c => Assert.Equal(1, c.Value));
    }

    [Fact]
    public async Task A_loop_over_batches_that_is_left_abandons_the_first_that_it_has_not_completed()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, 1);
        await using (Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled))
        {
            using BatchBuilder larger = producer.CreateBatch();
            for (int i = 0; i < Jobs; i++)
                Assert.True(larger.TryAdd("x"u8));
            await producer.PublishAsync(larger, Cancelled);
        }
        await foreach (MessageBatch batch in client.ConsumeBatchesAsync("jobs", Explicit, Cancelled))
        {
            if (batch.BaseOffset != 0)
                break;
        }

        Dictionary<long, int> counts = [];
        await foreach (Message message in client.ConsumeAsync("jobs", Explicit, Cancelled))
        {
            counts.Add(message.Offset, message.DeliveryCount);
            await message.CompleteAsync(Cancelled);
            if (counts.Count == Jobs + 1)
                break;
        }

        Assert.Equal([2, 1, 1, 1, 1, 1], counts.OrderBy(c => c.Key).Select(c => c.Value));
    }

    [Fact]
    public async Task What_is_completed_before_a_client_is_disposed_is_completed()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient admin = broker.CreateClient();
        await PublishAsync(admin);
        await using (LightQClient client = broker.CreateClient())
        {
            int left = Jobs;
            await foreach (Message message in client.ConsumeAsync("jobs", Explicit, Cancelled))
            {
                message.QueueCompletion();
                if (--left == 0)
                    break;
            }
        }
        await Eventually.TrueAsync(
            async () => (await admin.Groups.GetAsync("jobs", "workers", Cancelled)).Lag == 0,
            TimeSpan.FromSeconds(30),
            () => "completions were not sent"
        );
    }

    [Fact]
    public async Task What_a_loop_collects_stays_its_own_while_it_waits_for_more()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client);
        var first = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int taken = 0;
        Task<SettleOutcome[]> loop = Task.Run<SettleOutcome[]>(
            async () =>
            {
                await foreach (Message[] lot in CountedAsync().Chunk(2 * Jobs).WithCancellation(Cancelled))
                {
                    Assert.All(lot, message => Assert.Equal(1, message.DeliveryCount));
                    Assert.All(lot, message => Assert.True(message.LockedUntil > broker.Time.GetUtcNow()));
                    List<SettleOutcome> outcomes = [];
                    foreach (Message message in lot)
                        outcomes.Add(await message.CompleteAsync(Cancelled));
                    return [.. outcomes];
                }
                return [];
            },
            Cancelled
        );
        await first.Task.WaitAsync(Cancelled);
        for (int half = 0; half < 40; half++)
        {
            broker.Time.Advance(Lock / 2);
            await client.PingAsync(Cancelled); // The renewal is behind us.
        }
        Assert.Empty(await LettersAsync(client));
        await PublishAsync(client);
        Assert.Equal(Enumerable.Repeat(SettleOutcome.Done, 2 * Jobs), await loop);

        async IAsyncEnumerable<Message> CountedAsync()
        {
            await foreach (Message message in client.ConsumeAsync("jobs", Explicit, Cancelled))
            {
                if (++taken == Jobs)
                    first.SetResult();
                yield return message;
            }
        }
    }

    /// <summary>Works on messages until the work says that it is enough.</summary>
    private static async Task WorkAsync(
        LightQClient client,
        Way way,
        Func<Message, Task<bool>> work,
        CancellationToken? cancellation = null
    )
    {
        CancellationToken token = cancellation ?? Cancelled;
        switch (way)
        {
            case Way.Loop:
                await foreach (Message message in client.ConsumeAsync("jobs", Explicit, token))
                {
                    if (!await work(message))
                        return;
                }
                break;
            case Way.Chunks:
                await foreach (Message[] lot in client.ConsumeAsync("jobs", Explicit, token).Chunk(2))
                {
                    foreach (Message message in lot)
                    {
                        if (!await work(message))
                            return;
                    }
                }
                break;
            case Way.Batches:
                await foreach (MessageBatch batch in client.ConsumeBatchesAsync("jobs", Explicit, token))
                {
                    await work(Message.Create("x"u8, deliveryCount: batch.DeliveryCount));
                }
                break;
            default:
                await using (MessageConsumer consumer = client.CreateConsumer("jobs", Explicit))
                {
                    while (true)
                    {
                        foreach (
                            Message message in await consumer.FetchAsync(
                                3,
                                TimeSpan.FromSeconds(30),
                                cancellationToken: token
                            )
                        )
                        {
                            if (!await work(message))
                                return;
                        }
                    }
                }
        }
    }

    private static async Task<List<DeadLetterInfo>> LettersAsync(LightQClient client)
    {
        List<DeadLetterInfo> letters = [];
        await foreach (
            DeadLetterInfo letter in client.DeadLetters.ListAsync("jobs", "workers", cancellationToken: Cancelled)
        )
        {
            letters.Add(letter);
        }

        return letters;
    }

    private static async Task PublishAsync(LightQClient client, int count = Jobs)
    {
        await client.Topics.EnsureAsync(
            new TopicSpec("jobs")
            {
                Kind = TopicKind.Durable,
                LockDuration = Lock,
                MaxDeliveries = 3,
                RetryDelay = TimeSpan.Zero,
            },
            Cancelled
        );
        for (int i = 0; i < count; i++)
            await client.PublishAsync("jobs", BitConverter.GetBytes(i), cancellationToken: Cancelled);
    }
}
