using System.Collections.Concurrent;
using System.Text;
using LightQ.Client;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Processors on a real broker.</summary>
public sealed class ProcessorTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task As_many_handlers_run_at_once_as_may_and_what_they_return_from_is_completed()
    {
        const int Jobs = 200,
            AtOnce = 4;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs"), Jobs);
        var handled = new ConcurrentBag<int>();
        var allRun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int running = 0,
            most = 0;
        await using LightQProcessor processor = client.CreateProcessor(
            "jobs",
            "workers",
            new() { MaxConcurrency = AtOnce }
        );
        processor.ProcessMessageAsync += async args =>
        {
            int now = Interlocked.Increment(ref running);
            InterlockedMax(ref most, now);
            if (now == AtOnce)
                allRun.TrySetResult();
            await allRun.Task.WaitAsync(args.CancellationToken);
            handled.Add(BitConverter.ToInt32(args.Message.BodySpan));
            Interlocked.Decrement(ref running);
        };

        await processor.StartAsync(Cancelled);

        await SettledAsync(client, "jobs", Jobs);
        Assert.Equal(Enumerable.Range(0, Jobs), handled.Order());
        Assert.Equal(AtOnce, most);
    }

    [Fact]
    public async Task A_message_whose_handler_throws_comes_again_until_it_is_dead_and_the_rest_flows()
    {
        const int Jobs = 20,
            Poison = 7;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { MaxDeliveries = 3, RetryDelay = TimeSpan.Zero }, Jobs);
        var errors = new ConcurrentQueue<ProcessErrorEventArgs>();
        await using LightQProcessor processor = client.CreateProcessor("jobs", "workers", new() { MaxConcurrency = 2 });
        processor.ProcessMessageAsync += args =>
            BitConverter.ToInt32(args.Message.BodySpan) == Poison
                ? throw new FormatException("poison")
                : Task.CompletedTask;
        processor.ProcessErrorAsync += args =>
        {
            errors.Enqueue(args);
            throw new InvalidOperationException("An error handler that fails harms nothing.");
        };

        await processor.StartAsync(Cancelled);

        await Eventually.TrueAsync(() => errors.Count == 3, Patience, () => $"{errors.Count} errors");
        await SettledAsync(client, "jobs", Jobs);
        Assert.All(
            errors,
            e =>
                Assert.Equal(
                    ("jobs", "workers", 0, (long)Poison, ProcessErrorSource.Handler, "poison"),
                    (e.Topic, e.Group, e.Partition, e.Offset, e.Source, e.Exception.Message)
                )
        );
        Assert.Equal([1, 2, 3], errors.Select(e => e.Message!.Value.DeliveryCount));
        Message dead = await FirstOfAsync(client, "jobs.dead");
        Assert.Equal(Poison, BitConverter.ToInt32(dead.BodySpan));
        Assert.True(dead.TryGetHeader(DeadLetterHeader.Group, out ReadOnlySpan<byte> group));
        Assert.True(group.SequenceEqual("workers"u8));
        Assert.True(dead.TryGetHeader(DeadLetterHeader.Reason, out ReadOnlySpan<byte> reason));
        Assert.Equal(
            "delivered 3 times without being completed: FormatException: poison",
            Encoding.UTF8.GetString(reason)
        );
    }

    [Fact]
    public async Task A_handler_that_takes_longer_than_the_lock_keeps_its_message()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(
            client,
            new TopicSpec("jobs") { LockDuration = TimeSpan.FromSeconds(2), RetryDelay = TimeSpan.Zero },
            2
        );
        var deliveries = new ConcurrentQueue<(long Offset, int Count)>();
        await using LightQProcessor processor = client.CreateProcessor("jobs", "workers");
        await using LightQProcessor other = client.CreateProcessor("jobs", "workers");
        foreach (LightQProcessor member in (LightQProcessor[])[processor, other])
        {
            member.ProcessMessageAsync += async args =>
            {
                deliveries.Enqueue((args.Message.Offset, args.Message.DeliveryCount));
                DateTimeOffset longAfter = args.Message.LockedUntil.AddMilliseconds(700);
                await Eventually.TrueAsync(
                    () => args.CancellationToken.IsCancellationRequested || DateTimeOffset.UtcNow > longAfter,
                    Patience,
                    () => "the clock stands"
                );
                args.CancellationToken.ThrowIfCancellationRequested();
            };
            await member.StartAsync(Cancelled);
        }

        await SettledAsync(client, "jobs", 2);
        Assert.Equal([(0, 1), (1, 1)], deliveries.Order());
    }

    [Fact]
    public async Task A_processor_has_its_locks_for_as_long_as_it_asks_for()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { LockDuration = TimeSpan.FromSeconds(1) }, 1);
        var left = new TaskCompletionSource<TimeSpan>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using LightQProcessor processor = client.CreateProcessor(
            "jobs",
            "workers",
            new() { LockDuration = TimeSpan.FromHours(2) }
        );
        processor.ProcessMessageAsync += args =>
        {
            left.TrySetResult(args.Message.LockedUntil - DateTimeOffset.UtcNow);
            return Task.CompletedTask;
        };

        await processor.StartAsync(Cancelled);

        Assert.InRange(await left.Task.WaitAsync(Patience, Cancelled), TimeSpan.FromHours(1.9), TimeSpan.FromHours(2));
    }

    [Fact]
    public async Task A_handler_whose_lock_is_not_renewed_is_told_and_its_message_comes_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(
            client,
            new TopicSpec("jobs") { LockDuration = TimeSpan.FromSeconds(1), RetryDelay = TimeSpan.Zero },
            1
        );
        var deliveries = new ConcurrentQueue<int>();
        await using LightQProcessor processor = client.CreateProcessor(
            "jobs",
            "workers",
            new() { MaxLockRenewal = TimeSpan.Zero }
        );
        processor.ProcessMessageAsync += async args =>
        {
            deliveries.Enqueue(args.Message.DeliveryCount);
            if (args.Message.DeliveryCount == 1)
                await Task.Delay(Patience, args.CancellationToken);
        };

        await processor.StartAsync(Cancelled);

        await SettledAsync(client, "jobs", 1);
        Assert.Equal([1, 2], deliveries);
    }

    [Fact]
    public async Task A_stop_waits_for_running_handlers_and_gives_the_rest_back_uncounted()
    {
        const int Jobs = 10;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs"), Jobs);
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var mayEnd = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int handledByFirst = 0;
        await using LightQProcessor first = client.CreateProcessor("jobs", "workers", new() { MaxInFlight = Jobs });
        first.ProcessMessageAsync += async args =>
        {
            begun.TrySetResult();
            await mayEnd.Task;
            Assert.False(args.CancellationToken.IsCancellationRequested);
            handledByFirst++;
        };
        await first.StartAsync(Cancelled);
        await begun.Task.WaitAsync(Patience, Cancelled);

        Task stopped = first.StopAsync(Cancelled);
        Assert.False(stopped.IsCompleted);
        Assert.True(first.IsRunning);
        mayEnd.SetResult();
        await stopped;

        Assert.False(first.IsRunning);
        Assert.Equal(1, handledByFirst);
        var deliveries = new ConcurrentQueue<(long, int)>();
        await using LightQProcessor second = client.CreateProcessor("jobs", "workers");
        second.ProcessMessageAsync += args =>
        {
            deliveries.Enqueue((args.Message.Offset, args.Message.DeliveryCount));
            return Task.CompletedTask;
        };
        await second.StartAsync(Cancelled);
        await SettledAsync(client, "jobs", Jobs);
        Assert.Equal(Enumerable.Range(1, Jobs - 1).Select(i => ((long)i, 1)), deliveries.Order());
    }

    [Fact]
    public async Task A_stop_whose_time_is_over_cancels_the_handlers_and_a_stopped_processor_starts_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs"), 1);
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var deliveries = new ConcurrentQueue<int>();
        await using LightQProcessor processor = client.CreateProcessor(
            "jobs",
            "workers",
            new() { DrainTimeout = TimeSpan.Zero }
        );
        processor.ProcessMessageAsync += async args =>
        {
            deliveries.Enqueue(args.Message.DeliveryCount);
            if (begun.TrySetResult())
                await Task.Delay(Patience, args.CancellationToken);
        };
        await processor.StartAsync(Cancelled);
        await begun.Task.WaitAsync(Patience, Cancelled);

        await processor.StopAsync(Cancelled);
        await processor.StartAsync(Cancelled);

        await SettledAsync(client, "jobs", 1);
        Assert.Equal([1, 1], deliveries);
    }

    [Fact]
    public async Task Messages_with_the_same_key_run_one_after_the_other_and_others_beside_them()
    {
        const int Jobs = 400,
            Keys = 10;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable, Partitions = 3 }, Cancelled);
        await using (Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled))
        {
            for (int i = 0; i < Jobs; i++)
                await producer.PublishAsync(BitConverter.GetBytes(i), $"k{i % Keys}", cancellationToken: Cancelled);
        }
        var seen = new ConcurrentDictionary<string, List<int>>();
        var running = new ConcurrentDictionary<string, bool>();
        var beside = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int overlaps = 0;
        await using LightQProcessor processor = client.CreateProcessor(
            "jobs",
            "workers",
            new()
            {
                MaxConcurrency = 8,
                MaxInFlight = 50,
                Ordering = ProcessingOrder.Key,
            }
        );
        processor.ProcessMessageAsync += async args =>
        {
            string key = System.Text.Encoding.UTF8.GetString(args.Message.Key.Span);
            if (!running.TryAdd(key, true))
                Interlocked.Increment(ref overlaps);
            if (running.Count > 1)
                beside.TrySetResult();
            await beside.Task.WaitAsync(Patience, args.CancellationToken);
            await Task.Yield();
            seen.GetOrAdd(key, _ => []).Add(BitConverter.ToInt32(args.Message.BodySpan));
            running.TryRemove(key, out _);
        };

        await processor.StartAsync(Cancelled);

        await SettledAsync(client, "jobs", Jobs);
        Assert.Equal(0, overlaps);
        Assert.Equal(Keys, seen.Count);
        Assert.All(
            seen,
            k => Assert.Equal(Enumerable.Range(0, Jobs / Keys).Select(i => (i * Keys) + int.Parse(k.Key[1..])), k.Value)
        );
    }

    [Fact]
    public async Task A_start_says_why_it_is_refused_and_may_be_tried_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using LightQProcessor processor = client.CreateProcessor("jobs", "workers");
        await Assert.ThrowsAsync<InvalidOperationException>(() => processor.StartAsync(Cancelled));
        processor.ProcessMessageAsync += _ => Task.CompletedTask;
        Assert.Equal(
            ErrorCode.UnknownTopic,
            (await Assert.ThrowsAsync<LightQException>(() => processor.StartAsync(Cancelled))).Code
        );
        Assert.False(processor.IsRunning);
        await PublishAsync(client, new TopicSpec("jobs"), 1);

        await processor.StartAsync(Cancelled);

        await SettledAsync(client, "jobs", 1);
        Assert.Throws<InvalidOperationException>(() => processor.ProcessErrorAsync += _ => Task.CompletedTask);
    }

    [Fact]
    [Trait("Fault", "G1")]
    public async Task Members_killed_between_processing_and_settlement_lose_nothing_and_no_message_has_two_holders()
    {
        const int Jobs = 500,
            Kills = 10;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { RetryDelay = TimeSpan.Zero, MaxDeliveries = 0 }, Jobs);
        var holders = new ConcurrentDictionary<long, Member>();
        var done = new ConcurrentDictionary<long, int>();
        var unsure = new ConcurrentDictionary<long, bool>();
        int handed = 0,
            twoHolders = 0;
        List<Member> members = [],
            all = [];
        for (int i = 0; i < 2; i++)
            members.Add(await JoinAsync());
        for (int kill = 0; kill < Kills; kill++)
        {
            int before = Volatile.Read(ref handed);
            Member victim = members[0];
            members.RemoveAt(0);
            members.Add(await JoinAsync());
            await Eventually.TrueAsync(
                () => Volatile.Read(ref handed) >= before + 3,
                Patience,
                () => $"{handed} handed out, {done.Count} done"
            );
            victim.IsDead = true;
            await victim.Client.DisposeAsync();
        }
        members.ForEach(m => m.Settles = true);
        try
        {
            await SettledAsync(client, "jobs", Jobs);
            await Eventually.TrueAsync(
                () => done.Keys.Union(unsure.Keys).Count() == Jobs,
                Patience,
                () => $"{done.Count} of {Jobs} handled"
            );
        }
        finally
        {
            foreach (Member member in all)
            {
                await member.Processor.DisposeAsync();
                await member.Client.DisposeAsync();
            }
        }
        Assert.Equal(0, twoHolders);
        Assert.All(done.Values, times => Assert.Equal(1, times));
        Assert.True(handed > Jobs, $"{handed} of {Jobs} handed out: nobody was killed before settling");

        async Task<Member> JoinAsync()
        {
            var member = new Member(
                new LightQClient(server.ConnectionString),
                new() { MaxConcurrency = 3, AutoComplete = false }
            );
            all.Add(member);
            member.Processor.ProcessMessageAsync += async args =>
            {
                long offset = args.Message.Offset;
                if (holders.TryGetValue(offset, out Member? holder) && !holder.IsDead && !member.IsDead)
                    Interlocked.Increment(ref twoHolders);
                holders[offset] = member;
                await Task.Yield();
                // Every third message waits unsettled until its member is killed, or the killing is over.
                if (Interlocked.Increment(ref handed) % 3 == 0)
                {
                    await Eventually.TrueAsync(
                        () => member.IsDead || member.Settles,
                        Patience,
                        () => "nobody was killed"
                    );
                }

                if (member.IsDead)
                    return;
                try
                {
                    if (await args.Message.CompleteAsync(CancellationToken.None) == SettleOutcome.Done)
                        done.AddOrUpdate(offset, 1, (_, times) => times + 1);
                }
                catch (LightQException e) when (e.Code == ErrorCode.OutcomeUnknown)
                {
                    // Killed at this very moment: if the broker took it, it does not come again.
                    unsure.TryAdd(offset, true);
                }
            };
            await member.Processor.StartAsync(Cancelled);
            return member;
        }
    }

    private static async Task PublishAsync(LightQClient client, TopicSpec spec, int jobs)
    {
        await client.Topics.CreateAsync(spec with { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(spec.Name, cancellationToken: Cancelled);
        using BatchBuilder batch = producer.CreateBatch();
        for (int i = 0; i < jobs; i++)
            Assert.True(batch.TryAdd(BitConverter.GetBytes(i)));
        await producer.PublishAsync(batch, Cancelled);
    }

    /// <summary>Waits until so many messages were completed or given up.</summary>
    private static async Task SettledAsync(LightQClient client, string topic, int count)
    {
        long settled = 0;
        await Eventually.TrueAsync(
            async () => (settled = (await client.Stats.GetTopicAsync(topic, Cancelled)).MessagesSettled) >= count,
            Patience,
            () => $"{settled} of {count} settled"
        );
        Assert.Equal(count, settled);
    }

    private static async Task<Message> FirstOfAsync(LightQClient client, string topic)
    {
        await Eventually.TrueAsync(
            async () => await client.Topics.ListAsync(Cancelled).AnyAsync(t => t.Name == topic, Cancelled),
            Patience,
            () => $"there is no {topic}"
        );
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync(topic, new() { Start = StartPosition.Earliest })
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        return messages.Current;
    }

    private static void InterlockedMax(ref int most, int value)
    {
        for (int known = Volatile.Read(ref most); value > known; known = Volatile.Read(ref most))
            Interlocked.CompareExchange(ref most, value, known);
    }

    private sealed class Member(LightQClient client, ProcessorOptions options)
    {
        private volatile bool _isDead;
        private volatile bool _settles;

        public LightQClient Client { get; } = client;

        public LightQProcessor Processor { get; } = client.CreateProcessor("jobs", "workers", options);

        public bool IsDead
        {
            get => _isDead;
            set => _isDead = value;
        }

        public bool Settles
        {
            get => _settles;
            set => _settles = value;
        }
    }
}
