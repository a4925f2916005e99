using System.Collections.Concurrent;
using System.Globalization;
using LightQ.Client;
using LightQ.Client.Administration;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// A message that ends the process which works on it, again and again, becomes a dead letter; of those around it no
/// delivery counts that no code has seen.
/// </summary>
public sealed class DyingWorkerTests
{
    private const int Messages = 300,
        MaxDeliveries = 10;
    private const string Topic = "jobs",
        GroupName = "workers";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly ConcurrentDictionary<string, int> _calls = new();
    private readonly ConcurrentDictionary<string, int> _handled = new();
    private string _poison = "0";

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private static ConsumeOptions Explicit => new() { Group = GroupName, SettleMode = SettleMode.Explicit };

    [Theory]
    [InlineData(1, 0, false)]
    [InlineData(1, 0, true)]
    [InlineData(1, Messages - 2, false)]
    [InlineData(1, Messages - 2, true)] // Behind many that are completed and whose completions die with the process.
    [InlineData(4, 7, false)]
    public async Task A_loop(int partitions, int poison, bool queues)
    {
        _poison = poison.ToString(CultureInfo.InvariantCulture);
        await using TestServer server = await StartAsync(partitions);
        await LiveAsync(
            server,
            async (client, _) =>
            {
                await foreach (Message message in client.ConsumeAsync(Topic, Explicit, Cancel))
                {
                    string body = See(message);
                    if (body == _poison)
                    {
                        await client.DisposeAsync(); // Before the loop's end could say goodbye.
                        return;
                    }
                    if (queues)
                        message.QueueCompletion();
                    else
                        Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancel));
                    if (Handled(body))
                        return;
                }
            }
        );
        await CheckAsync(server, mostDeaths: 1);
    }

    [Fact]
    public async Task A_loop_that_collects_messages_before_it_completes_them()
    {
        await using TestServer server = await StartAsync(1);
        await LiveAsync(
            server,
            async (client, life) =>
            {
                var collected = new List<Message>();
                await foreach (Message message in client.ConsumeAsync(Topic, Explicit, Cancel))
                {
                    See(message);
                    collected.Add(message);
                    if (
                        collected.Count < 10
                        && collected.Count(m => m.GetText() != _poison) + _handled.Count < Messages - 1
                    )
                    {
                        continue;
                    }

                    Message[] healthy = [.. collected.Where(m => m.GetText() != _poison)];
                    foreach (Message one in healthy)
                        await one.CompleteAsync(Cancel);
                    int last = healthy.Count(m => Handled(m.GetText()));
                    bool hasPoison = healthy.Length != collected.Count;
                    if (hasPoison)
                        await client.DisposeAsync();
                    if (last != 0 || hasPoison)
                        return;
                    collected.Clear();
                }
            }
        );
        await CheckAsync(server, mostDeaths: 0);
    }

    [Fact]
    public async Task A_loop_over_batches()
    {
        await using TestServer server = await StartAsync(1);
        await LiveAsync(
            server,
            async (client, life) =>
            {
                await foreach (MessageBatch batch in client.ConsumeBatchesAsync(Topic, Explicit, Cancel))
                {
                    List<string> bodies = [];
                    foreach (var record in batch)
                    {
                        string body = System.Text.Encoding.UTF8.GetString(record.Body);
                        bodies.Add(body);
                        See(body, batch.DeliveryCount);
                    }
                    if (bodies.Contains(_poison))
                    {
                        await client.DisposeAsync();
                        return;
                    }
                    await batch.CompleteAsync(Cancel);
                    int last = bodies.Count(Handled);
                    if (last != 0)
                        return;
                }
            }
        );
        await CheckAsync(server, mostDeaths: 2);
    }

    [Fact]
    public async Task A_program_that_fetches()
    {
        await using TestServer server = await StartAsync(1);
        await LiveAsync(
            server,
            async (client, life) =>
            {
                MessageConsumer consumer = client.CreateConsumer(Topic, Explicit);
                while (true)
                {
                    IReadOnlyList<Message> messages = await consumer.FetchAsync(5, Patience, cancellationToken: Cancel);
                    List<string> bodies = [.. messages.Select(See)];
                    if (bodies.Contains(_poison))
                        return;
                    foreach (Message message in messages)
                        await message.CompleteAsync(Cancel);
                    int last = bodies.Count(Handled);
                    if (last != 0)
                        return;
                }
            }
        );
        await CheckAsync(server, mostDeaths: 2);
    }

    [Theory]
    [InlineData(ProcessingOrder.None)]
    [InlineData(ProcessingOrder.Key)]
    [InlineData(ProcessingOrder.Partition)]
    public async Task A_processor_with_four_handlers(ProcessingOrder ordering)
    {
        await using TestServer server = await StartAsync(1);
        int together = ordering == ProcessingOrder.Partition ? 1 : 4;
        await LiveAsync(
            server,
            async (client, life) =>
            {
                var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                int running = 0;
                LightQProcessor processor = client.CreateProcessor(
                    Topic,
                    GroupName,
                    new ProcessorOptions { MaxConcurrency = 4, Ordering = ordering }
                );
                processor.ProcessMessageAsync += async args =>
                {
                    string body = See(args.Message);
                    int now = Interlocked.Increment(ref running);
                    // Twice the poison takes along what is in hand beside it; from then on it is alone.
                    if (life < 2 ? now == together : body == _poison)
                        over.TrySetResult();
                    if (life < 2 || body == _poison)
                        await Task.Delay(Timeout.Infinite, args.CancellationToken);
                    Interlocked.Decrement(ref running);
                    await args.Message.CompleteAsync(args.CancellationToken);
                    if (Handled(body))
                        over.TrySetResult();
                };
                await processor.StartAsync(Cancel);
                await over.Task.WaitAsync(Patience, Cancel);
                if (life >= 2 && _handled.Count < Messages - 1)
                    Assert.Equal(1, running);
            }
        );
        await CheckAsync(server, mostDeaths: 2);
    }

    private static async Task<TestServer> StartAsync(int partitions)
    {
        TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec(Topic)
            {
                Kind = TopicKind.Durable,
                Partitions = partitions,
                MaxDeliveries = MaxDeliveries,
                LockDuration = TimeSpan.FromMinutes(10),
            },
            Cancel
        );
        await using Producer producer = await client.CreateProducerAsync(Topic, cancellationToken: Cancel);
        for (int i = 0; i < Messages; i++)
        {
            while (
                !producer.TryPublish(
                    System.Text.Encoding.UTF8.GetBytes(i.ToString(CultureInfo.InvariantCulture)),
                    $"{i % 7}"
                )
            )
            {
                await producer.WaitForRoomAsync(Cancel);
            }
        }
        await producer.FlushAsync(Cancel);
        return server;
    }

    /// <summary>Starts a worker anew until its work is done. Whatever it holds when it returns, its process died.</summary>
    private async Task LiveAsync(TestServer server, Func<LightQClient, int, Task> work)
    {
        for (int life = 0; _handled.Count < Messages - 1; life++)
        {
            Assert.True(life < MaxDeliveries + 3, $"{_handled.Count} messages are handled after {life} lives");
            var client = new LightQClient(server.ConnectionString);
            Task working = work(client, life);
            if (await Task.WhenAny(working, Task.Delay(Patience, Cancel)) != working)
            {
                Assert.Fail(
                    $"Life {life} stands still: {server.Broker.GetTopic(Topic).Partitions[0].Groups().Single().Figures()}"
                );
            }
            await working;
            await client.DisposeAsync(); // Its connection goes, and nobody has said goodbye.
            await server.ConnectionsAsync(0);
        }
    }

    private string See(Message message) => See(message.GetText(), message.DeliveryCount);

    private string See(string body, int deliveryCount)
    {
        int calls = _calls.AddOrUpdate(body, 1, (_, n) => n + 1);
        Assert.True(
            deliveryCount <= calls,
            $"message {body} counts {deliveryCount} deliveries and was seen {calls} times"
        );
        return body;
    }

    /// <returns>Whether it was the last.</returns>
    private bool Handled(string body)
    {
        _handled.AddOrUpdate(body, 1, (_, n) => n + 1);
        return _handled.Count == Messages - 1;
    }

    private async Task CheckAsync(TestServer server, int mostDeaths)
    {
        await using var client = new LightQClient(server.ConnectionString);
        List<DeadLetterInfo> letters = [];
        await Eventually.TrueAsync(
            async () =>
            {
                letters = [];
                await foreach (
                    DeadLetterInfo letter in client.DeadLetters.ListAsync(Topic, GroupName, cancellationToken: Cancel)
                )
                {
                    letters.Add(letter);
                }

                return letters.Count != 0;
            },
            Patience,
            () => "nothing is dead-lettered"
        );
        DeadLetterInfo dead = Assert.Single(letters);
        Assert.Equal(MaxDeliveries, dead.Deliveries);
        Assert.StartsWith(
            $"delivered {MaxDeliveries} times without being completed; the connection was lost {MaxDeliveries} times "
                + "while it was in hand",
            dead.Reason,
            StringComparison.Ordinal
        );
        Assert.DoesNotContain(_poison, _handled.Keys);
        Assert.InRange(_calls[_poison], MaxDeliveries, MaxDeliveries + 1);
        Assert.All(_calls.Where(c => c.Key != _poison), c => Assert.InRange(c.Value, 1, mostDeaths + 1));
    }
}
