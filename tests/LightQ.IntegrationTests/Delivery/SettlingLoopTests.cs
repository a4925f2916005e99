using LightQ.Client;
using LightQ.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// The loop that people write first - take a message, work, complete it - with more waiting than one lock's time
/// suffices for. The work takes the time of a clock that jumps.
/// </summary>
public sealed class SettlingLoopTests
{
    private const int Jobs = 1500;
    private static readonly TimeSpan Work = TimeSpan.FromMilliseconds(10),
        Lock = TimeSpan.FromSeconds(3),
        Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Everything_is_completed_at_its_first_delivery_however_long_it_waits()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, Jobs);
        int done = 0;

        await foreach (Message job in client.ConsumeAsync("jobs", Explicit(), Cancelled))
        {
            broker.Time.Advance(Work);
            Assert.Equal((done, 1), (BitConverter.ToInt32(job.BodySpan), job.DeliveryCount));
            Assert.Equal(SettleOutcome.Done, await job.CompleteAsync(Cancelled));
            if (++done == Jobs)
                break;
        }

        Assert.Equal(Jobs, (await client.Stats.GetTopicAsync("jobs", Cancelled)).MessagesSettled);
    }

    [Fact]
    public async Task So_it_is_when_completions_are_queued()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, Jobs);
        int done = 0;

        await foreach (Message job in client.ConsumeAsync("jobs", Explicit(), Cancelled))
        {
            broker.Time.Advance(Work);
            Assert.Equal((done, 1), (BitConverter.ToInt32(job.BodySpan), job.DeliveryCount));
            // Every now and then in person: the clock must not run away from the connection.
            if (++done % 50 != 0)
                job.QueueCompletion();
            else
                Assert.Equal(SettleOutcome.Done, await job.CompleteAsync(Cancelled));
            if (done == Jobs)
                break;
        }
    }

    [Fact]
    public async Task So_it_is_batch_by_batch_and_in_fetches()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, Jobs);
        int done = 0;
        await foreach (MessageBatch batch in client.ConsumeBatchesAsync("jobs", Explicit(), Cancelled))
        {
            for (int i = 0; i < batch.Count; i++)
            {
                Assert.Equal(1, batch.DeliveryCount);
                broker.Time.Advance(Work);
                await client.PingAsync(Cancelled);
            }
            Assert.Equal(SettleOutcome.Done, await batch.CompleteAsync(Cancelled));
            if ((done += batch.Count) == Jobs)
                break;
        }

        await PublishAsync(client, Jobs);
        await using MessageConsumer consumer = client.CreateConsumer("jobs", Explicit());
        for (done = 0; done < Jobs; )
        {
            foreach (Message job in await consumer.FetchAsync(400, Patience, cancellationToken: Cancelled))
            {
                broker.Time.Advance(Work);
                Assert.Equal((done++, 1), (BitConverter.ToInt32(job.BodySpan), job.DeliveryCount));
                Assert.Equal(SettleOutcome.Done, await job.CompleteAsync(Cancelled));
            }
        }
    }

    [Fact]
    public async Task A_message_that_takes_three_locks_keeps_its_own()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, 20);
        int done = 0;

        await foreach (Message job in client.ConsumeAsync("jobs", Explicit(), Cancelled))
        {
            for (int part = 0; part < 12; part++)
            {
                broker.Time.Advance(Lock / 4);
                await client.PingAsync(Cancelled);
            }
            Assert.Equal((done, 1), (BitConverter.ToInt32(job.BodySpan), job.DeliveryCount));
            Assert.Equal(SettleOutcome.Done, await job.CompleteAsync(Cancelled));
            if (++done == 20)
                break;
        }
    }

    [Theory]
    [InlineData("loop")]
    [InlineData("fetches")]
    [InlineData("handlers")]
    public async Task What_is_in_hand_keeps_its_lock_while_later_messages_are_worked_on(string how)
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, 100);
        Func<Task<SettleOutcome>>? first = null;
        int later = 0;

        switch (how)
        {
            case "loop":
                await foreach (Message job in client.ConsumeAsync("jobs", Explicit(), Cancelled))
                {
                    if (await IsDoneAsync(() => job.CompleteAsync(Cancelled).AsTask()))
                        break;
                }

                break;
            case "fetches":
                await using (MessageConsumer consumer = client.CreateConsumer("jobs", Explicit()))
                {
                    bool isDone = false;
                    while (!isDone)
                    {
                        Message job = (await consumer.FetchAsync(1, Patience, cancellationToken: Cancelled))[0];
                        isDone = await IsDoneAsync(() => job.CompleteAsync(Cancelled).AsTask());
                    }
                }

                break;
            default:
                await using (
                    LightQProcessor processor = client.CreateProcessor(
                        "jobs",
                        "workers",
                        new() { AutoComplete = false }
                    )
                )
                {
                    var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                    processor.ProcessMessageAsync += async args =>
                    {
                        Message job = args.Message;
                        if (!over.Task.IsCompleted && await IsDoneAsync(() => job.CompleteAsync().AsTask()))
                            over.TrySetResult();
                    };
                    await processor.StartAsync(Cancelled);
                    await over.Task.WaitAsync(Patience, Cancelled);
                }

                break;
        }

        // The first stays in hand for three locks.
        async Task<bool> IsDoneAsync(Func<Task<SettleOutcome>> complete)
        {
            if (first is null)
            {
                first = complete;
                return false;
            }
            broker.Time.Advance(Lock / 4);
            await client.PingAsync(Cancelled);
            Assert.Equal(SettleOutcome.Done, await complete());
            if (++later < 12)
                return false;
            Assert.Equal(SettleOutcome.Done, await first());
            return true;
        }
    }

    [Fact]
    public async Task What_hangs_is_given_up_in_the_end_and_late_completions_are_said_once()
    {
        var log = new RecordedLog();
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient(o => o with { LoggerFactory = log });
        await PublishAsync(client, 10);
        ConsumeOptions options = Explicit() with { MaxLockRenewal = TimeSpan.Zero, MaxInFlight = 1 };
        int late = 0;

        await foreach (Message job in client.ConsumeAsync("jobs", options, Cancelled))
        {
            broker.Time.Advance(Lock * 0.6);
            await client.PingAsync(Cancelled);
            broker.Time.Advance(Lock * 0.6);
            Assert.Equal(SettleOutcome.LockExpired, await job.CompleteAsync(Cancelled));
            if (++late == 8)
                break;
        }

        Assert.Single(
            log.Lines,
            line => line.Message.Contains("after their locks had run out", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task Nothing_is_handed_out_after_its_lock()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, 100);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync("jobs", Explicit(), Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal(0, jobs.Current.Offset);

        broker.Time.Advance(Lock); // As in a debugger, or a machine that slept: nobody could renew.
        broker.Time.Advance(TimeSpan.FromSeconds(2)); // The delay of redeliveries.

        var offsets = new List<long>();
        while (offsets.Count < 100)
        {
            Assert.True(await jobs.MoveNextAsync());
            offsets.Add(jobs.Current.Offset);
            Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
        }
        Assert.Equal(Enumerable.Range(0, 100).Select(i => (long)i), offsets.Order());
    }

    [Fact]
    public async Task Loops_that_work_equally_fast_share_equally_also_when_one_begins_later()
    {
        const int Shared = 300,
            Before = 40;
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await using LightQClient other = broker.CreateClient();
        await PublishAsync(client, Shared);
        int[] done = [0, 0];
        using var all = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);

        Task first = WorkAsync(client, 0);
        await Eventually.TrueAsync(() => Volatile.Read(ref done[0]) >= Before, Patience, () => $"{done[0]} done");
        int alone = Volatile.Read(ref done[0]);
        await Task.WhenAll(first, WorkAsync(other, 1));

        Assert.Equal(Shared, done[0] + done[1]);
        Assert.True(
            2 * done[1] >= done[0] - alone && 2 * (done[0] - alone) >= done[1],
            $"the first did {alone} alone and {done[0]} in all, the second {done[1]}"
        );

        async Task WorkAsync(LightQClient member, int index)
        {
            try
            {
                await foreach (Message job in member.ConsumeAsync("jobs", Explicit(), all.Token))
                {
                    await Task.Delay(5, Cancelled);
                    Assert.Equal(SettleOutcome.Done, await job.CompleteAsync(Cancelled));
                    Interlocked.Increment(ref done[index]);
                    if (Volatile.Read(ref done[0]) + Volatile.Read(ref done[1]) == Shared)
                        await all.CancelAsync();
                }
            }
            catch (OperationCanceledException) when (all.IsCancellationRequested)
            {
                // All is done.
            }
        }
    }

    [Fact]
    public async Task A_loop_that_stands_still_keeps_nothing_but_what_it_works_on()
    {
        const int Shared = 100;
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await using LightQClient other = broker.CreateClient();
        await PublishAsync(client, Shared);
        await using IAsyncEnumerator<Message> standing = client
            .ConsumeAsync("jobs", Explicit(), Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await standing.MoveNextAsync());
        await using IAsyncEnumerator<Message> working = other
            .ConsumeAsync("jobs", Explicit(), Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await working.MoveNextAsync());

        broker.Time.Advance(TimeSpan.FromSeconds(2.1));

        var offsets = new List<long> { working.Current.Offset };
        while (offsets.Count < Shared - 1)
        {
            Assert.Equal(1, working.Current.DeliveryCount);
            Assert.Equal(SettleOutcome.Done, await working.Current.CompleteAsync(Cancelled));
            Assert.True(await working.MoveNextAsync());
            offsets.Add(working.Current.Offset);
        }
        Assert.Equal(Enumerable.Range(1, Shared - 1).Select(i => (long)i), offsets.Order());
        Assert.Equal(SettleOutcome.Done, await working.Current.CompleteAsync(Cancelled));
        Assert.Equal(SettleOutcome.Done, await standing.Current.CompleteAsync(Cancelled));
    }

    [Fact]
    public async Task A_processor_whose_handlers_hang_keeps_nothing_but_what_they_have()
    {
        const int Shared = 40,
            AtOnce = 4;
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await using LightQClient other = broker.CreateClient();
        await PublishAsync(client, Shared);
        var hanging = new TaskCompletionSource();
        int begun = 0,
            done = 0;
        await using LightQProcessor standing = client.CreateProcessor(
            "jobs",
            "workers",
            new() { MaxConcurrency = AtOnce }
        );
        standing.ProcessMessageAsync += _ =>
        {
            Interlocked.Increment(ref begun);
            return hanging.Task;
        };
        await standing.StartAsync(Cancelled);
        await Eventually.TrueAsync(() => Volatile.Read(ref begun) == AtOnce, Patience, () => $"{begun} have begun");
        await using LightQProcessor working = other.CreateProcessor("jobs", "workers");
        working.ProcessMessageAsync += args =>
        {
            Assert.Equal(1, args.Message.DeliveryCount);
            Interlocked.Increment(ref done);
            return Task.CompletedTask;
        };
        await working.StartAsync(Cancelled);

        broker.Time.Advance(TimeSpan.FromSeconds(2.1));

        await Eventually.TrueAsync(
            () => Volatile.Read(ref done) == Shared - AtOnce,
            Patience,
            () => $"{done} of {Shared - AtOnce} are done"
        );
        hanging.SetResult();
    }

    [Fact]
    public async Task A_loop_that_works_on_many_at_a_time_gets_as_many()
    {
        const int AtATime = 100;
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, 2 * AtATime);
        var taken = new List<Message>();

        await foreach (Message job in client.ConsumeAsync("jobs", Explicit(), Cancelled))
        {
            taken.Add(job);
            if (taken.Count == AtATime)
                break;
        }
        Assert.Equal(AtATime, taken.Count);
    }

    [Fact]
    public async Task What_is_given_back_comes_again_in_its_order()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await PublishAsync(client, 200);
        int done = 0;

        await foreach (Message job in client.ConsumeAsync("jobs", Explicit(), Cancelled))
        {
            // Fast, and every now and then slow: what waits then is too much, and given back.
            broker.Time.Advance(TimeSpan.FromMilliseconds(done % 20 == 0 ? 2200 : 1));
            Assert.Equal((done, 1), (BitConverter.ToInt32(job.BodySpan), job.DeliveryCount));
            Assert.Equal(SettleOutcome.Done, await job.CompleteAsync(Cancelled));
            if (++done == 200)
                break;
        }
    }

    private static ConsumeOptions Explicit() => new() { Group = "workers", SettleMode = SettleMode.Explicit };

    private static async Task PublishAsync(LightQClient client, int count)
    {
        await client.Topics.EnsureAsync(
            new TopicSpec("jobs")
            {
                Kind = TopicKind.Durable,
                LockDuration = Lock,
                MaxDeliveries = 3,
                RetryDelay = TimeSpan.FromSeconds(1),
            },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        using BatchBuilder batch = producer.CreateBatch();
        for (int i = 0; i < count; i++)
            Assert.True(batch.TryAdd(BitConverter.GetBytes(i)));
        await producer.PublishAsync(batch, Cancelled);
    }
}
