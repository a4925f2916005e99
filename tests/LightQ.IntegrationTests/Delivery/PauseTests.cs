using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>A processor whose handler says that something is down: it stops asking, and no message pays.</summary>
public sealed class PauseTests
{
    private const int Jobs = 40;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60),
        Pause = TimeSpan.FromSeconds(10);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static TheoryData<string, int, ProcessingOrder> Ways =>
        new()
        {
            { "asks and returns", 1, ProcessingOrder.None },
            { "asks and throws", 3, ProcessingOrder.None },
            { "throws", 1, ProcessingOrder.Key },
            { "throws inside another", 3, ProcessingOrder.Partition },
            { "its error handler throws", 1, ProcessingOrder.None },
            { "settles nothing itself", 1, ProcessingOrder.None },
        };

    [Fact]
    public async Task However_often_it_pauses_it_goes_on()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { MaxDeliveries = 1 }, 10 * Jobs);
        var handled = new ConcurrentDictionary<long, bool>();
        int calls = 0;
        await using LightQProcessor processor = client.CreateProcessor("jobs", "workers", new() { MaxConcurrency = 8 });
        processor.ProcessMessageAsync += args =>
        {
            // The trial behind each pause goes well, and the turn behind that is soon over again.
            if (Interlocked.Increment(ref calls) % 3 == 0)
                throw new ProcessorPausedException("The ledger is down.", TimeSpan.FromMilliseconds(1));
            handled[args.Message.Offset] = true;
            return Task.CompletedTask;
        };
        await processor.StartAsync(Cancelled);
        await Eventually.TrueAsync(
            () => handled.Count == 10 * Jobs,
            Patience,
            () => $"{handled.Count} are handled of {10 * Jobs}"
        );
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task All_messages_go_to_others_and_no_delivery_counts(
        string way,
        int partitions,
        ProcessingOrder order
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { MaxDeliveries = 1, Partitions = partitions });
        // It ends no pause by itself: this clock stands.
        await using var down = new LightQClient(Options(server, new ManualTime()));
        await using LightQProcessor paused = down.CreateProcessor(
            "jobs",
            "workers",
            new()
            {
                MaxConcurrency = 4,
                Ordering = order,
                AutoComplete = way != "settles nothing itself",
            }
        );
        paused.ProcessMessageAsync += async args =>
        {
            if (way.Contains("asks", StringComparison.Ordinal) || way.Contains("settles", StringComparison.Ordinal))
                await args.PauseAsync(Pause, "The ledger is down.");
            else if (way == "throws")
                throw new ProcessorPausedException("The ledger is down.", Pause);
            var cause = new ProcessorPausedException("The ledger is down.");
            if (way == "throws inside another")
                throw new AggregateException(new FormatException("x", cause));
            bool ends = way.Contains("returns", StringComparison.Ordinal);
            if (!ends && !way.Contains("nothing", StringComparison.Ordinal))
                throw new HttpRequestException("503");
        };
        if (way == "its error handler throws")
        {
            paused.ProcessErrorAsync += args =>
                args.Source == ProcessErrorSource.Handler
                    ? throw new ProcessorPausedException("The ledger is down.")
                    : Task.CompletedTask;
        }
        await paused.StartAsync(Cancelled);
        await PausedAsync(client, paused);
        Assert.Equal("The ledger is down.", paused.Failure!.Message);

        var handled = new ConcurrentQueue<int>();
        await using LightQProcessor other = client.CreateProcessor("jobs", "workers", new() { MaxConcurrency = 2 });
        other.ProcessMessageAsync += args =>
        {
            handled.Enqueue(args.Message.DeliveryCount);
            return Task.CompletedTask;
        };
        await other.StartAsync(Cancelled);

        await Eventually.TrueAsync(() => handled.Count >= Jobs, Patience, () => $"{handled.Count} handled");
        Assert.Equal(Enumerable.Repeat(1, Jobs), handled);
        Assert.Equal(0, (await client.Groups.GetAsync("jobs", "workers", Cancelled)).DeadLettered);
    }

    [Fact]
    public async Task One_message_is_tried_when_the_time_is_over_and_each_pause_is_longer_than_the_last()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { MaxDeliveries = 1 });
        var time = new ManualTime();
        using var log = new RecordedLog();
        await using var worker = new LightQClient(Options(server, time) with { LoggerFactory = log });
        await using LightQProcessor processor = worker.CreateProcessor("jobs", "workers", new() { MaxConcurrency = 4 });
        bool isDown = true;
        int calls = 0;
        var handled = new ConcurrentQueue<(int Job, int Count)>();
        var reported = new ConcurrentQueue<(ProcessErrorSource, Message?)>();
        processor.ProcessMessageAsync += async args =>
        {
            Interlocked.Increment(ref calls);
            if (Volatile.Read(ref isDown))
                await args.PauseAsync(Pause);
            else
                handled.Enqueue((BitConverter.ToInt32(args.Message.BodySpan), args.Message.DeliveryCount));
        };
        processor.ProcessErrorAsync += args =>
        {
            reported.Enqueue((args.Source, args.Message));
            return Task.CompletedTask;
        };
        await processor.StartAsync(Cancelled);
        await PausedAsync(client, processor);
        Assert.InRange(calls, 1, 4);

        foreach (int seconds in (int[])[10, 20, 40, 80, 160, 300, 300])
        {
            int before = calls;
            time.Advance(TimeSpan.FromSeconds(seconds - 1));
            await PausedAsync(client, processor);
            Assert.Equal(before, calls);
            time.Advance(TimeSpan.FromSeconds(1));
            await Eventually.TrueAsync(() => calls > before, Patience, () => $"no trial after {seconds} s");
            await PausedAsync(client, processor);
            Assert.Equal(before + 1, calls);
        }

        Volatile.Write(ref isDown, false);
        time.Advance(TimeSpan.FromMinutes(5));
        await Eventually.TrueAsync(() => handled.Count == Jobs, Patience, () => $"{handled.Count} handled");
        await Eventually.TrueAsync(() => processor.Failure is null, Patience, () => $"{processor.Failure}");
        Assert.Equal(Enumerable.Range(0, Jobs).Select(job => (job, 1)), handled.Order());
        Assert.Equal([(ProcessErrorSource.Pause, null)], reported);
        string[] said =
        [
            .. log.Lines.Select(l => l.Message).Where(m => m.Contains("processor", StringComparison.Ordinal)),
        ];
        Assert.Equal(
            [
                "The processor of jobs for workers pauses for 10 s, and longer while trials fail: Its handler "
                    + "asked for a pause. Messages wait in the group, and no delivery counts.",
                "The processor of jobs for workers works again, after 1210 s.",
            ],
            said
        );
    }

    [Fact]
    public async Task What_is_in_hand_ends_and_is_completed_while_the_processor_pauses()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { MaxDeliveries = 1 });
        await using var worker = new LightQClient(Options(server, new ManualTime()));
        await using LightQProcessor processor = worker.CreateProcessor("jobs", "workers", new() { MaxConcurrency = 3 });
        var slow = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var settled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        processor.ProcessMessageAsync += async args =>
        {
            if (args.Message.Offset == 0)
            {
                await slow.Task.WaitAsync(args.CancellationToken);
            }
            else if (args.Message.Offset == 1)
            {
                // Done, and all the same no more for now.
                await args.Message.CompleteAsync();
                await args.PauseAsync();
                settled.TrySetResult();
            }
            else
            {
                await settled.Task;
                throw new ProcessorPausedException("Down.");
            }
        };
        await processor.StartAsync(Cancelled);
        await Eventually.TrueAsync(() => processor.Failure is not null, Patience, () => "no pause");
        slow.SetResult();
        await PausedAsync(client, processor);

        GroupInfo group = await client.Groups.GetAsync("jobs", "workers", Cancelled);
        Assert.Equal(2, group.Partitions[0].CommittedOffset);
        Assert.Equal(0, group.DeadLettered);
    }

    [Theory]
    [InlineData("pauses", 1, ProcessingOrder.None)]
    [InlineData("pauses", 3, ProcessingOrder.Key)]
    [InlineData("stops", 1, ProcessingOrder.None)]
    [InlineData("stops", 3, ProcessingOrder.Partition)]
    public async Task Others_do_what_waits_while_a_handler_of_before_still_runs(
        string how,
        int partitions,
        ProcessingOrder order
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { MaxDeliveries = 1, Partitions = partitions });
        await using var worker = new LightQClient(Options(server, new ManualTime()));
        await using LightQProcessor processor = worker.CreateProcessor(
            "jobs",
            "workers",
            new() { MaxConcurrency = 2, Ordering = order }
        );
        var slow = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var stopping = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int calls = 0;
        Message held = default;
        processor.ProcessMessageAsync += async args =>
        {
            if (Interlocked.Increment(ref calls) == 1)
            {
                held = args.Message;
                await slow.Task.WaitAsync(Patience, Cancelled);
                return;
            }
            if (how == "pauses")
                await args.PauseAsync(Pause);
            else
                await stopping.Task.WaitAsync(Patience, Cancelled);
        };
        await processor.StartAsync(Cancelled);
        await Eventually.TrueAsync(() => calls >= 2, Patience, () => "no second handler");
        Task stopped = how == "stops" ? processor.StopAsync(Cancelled) : Task.CompletedTask;
        stopping.SetResult();

        var handled = new ConcurrentQueue<Message>();
        await using LightQProcessor other = client.CreateProcessor("jobs", "workers", new() { MaxConcurrency = 2 });
        other.ProcessMessageAsync += args =>
        {
            handled.Enqueue(args.Message);
            return Task.CompletedTask;
        };
        await other.StartAsync(Cancelled);

        // The messages of its partition, where there are several, are kept in order behind it.
        await Eventually.TrueAsync(
            () => Lags().Sum() == (partitions == 1 ? 1 : Lags()[held.Partition]),
            Patience,
            () => $"{handled.Count} are handled, {string.Join(' ', Lags())} are left; {held.Partition} is held"
        );
        Assert.False(slow.Task.IsCompleted);
        slow.SetResult();

        await Eventually.TrueAsync(() => Lags().Sum() == 0, Patience, () => $"{handled.Count} are handled");
        await stopped;
        Assert.All(handled, message => Assert.Equal(1, message.DeliveryCount));
        Assert.Equal(handled.Count, handled.Select(m => (m.Partition, m.Offset)).Distinct().Count());

        long[] Lags() => [.. server.Broker.GetTopic("jobs").Partitions.Select(p => p.Groups().Single().Figures().Lag)];
    }

    [Fact]
    public async Task A_paused_processor_stops_at_once_and_may_be_started_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs") { MaxDeliveries = 1 });
        long pausedNow = 0;
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Name == "lightq.client.paused.processors")
                    self.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>(
            (_, change, tags, _) =>
            {
                if (tags.Contains(new("messaging.consumer.group.name", "metered")))
                    Interlocked.Add(ref pausedNow, change);
            }
        );
        listener.Start();
        await using LightQProcessor processor = client.CreateProcessor("jobs", "metered");
        bool isDown = true;
        int handled = 0;
        processor.ProcessMessageAsync += async args =>
        {
            if (Volatile.Read(ref isDown))
                await args.PauseAsync(TimeSpan.FromHours(24));
            else
                Interlocked.Increment(ref handled);
        };
        await processor.StartAsync(Cancelled);
        await PausedAsync(client, processor, "metered");
        Assert.Equal(1, Interlocked.Read(ref pausedNow));

        await processor.StopAsync(Cancelled);
        Assert.Null(processor.Failure);
        Assert.Equal(0, Interlocked.Read(ref pausedNow));
        Volatile.Write(ref isDown, false);
        await processor.StartAsync(Cancelled);

        await Eventually.TrueAsync(() => handled == Jobs, Patience, () => $"{handled} handled");
    }

    [Fact]
    public async Task A_trial_without_a_message_is_no_failure()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs"));
        var time = new ManualTime();
        await using var worker = new LightQClient(Options(server, time));
        await using LightQProcessor processor = worker.CreateProcessor("jobs", "workers");
        processor.ProcessMessageAsync += args => args.PauseAsync(Pause);
        await processor.StartAsync(Cancelled);
        await PausedAsync(client, processor);
        await client.Groups.ResetAsync("jobs", "workers", StartPosition.Latest, cancellationToken: Cancelled);

        time.Advance(Pause);
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("jobs", "workers", Cancelled)).Partitions[0].Members.Count == 1,
            Patience,
            () => "no trial"
        );
        time.Advance(TimeSpan.FromSeconds(2));

        await Eventually.TrueAsync(() => processor.Failure is null, Patience, () => $"{processor.Failure}");
    }

    [Fact]
    public async Task A_processor_without_its_topic_says_so()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, new TopicSpec("jobs"));
        await using LightQProcessor processor = client.CreateProcessor("jobs", "workers");
        processor.ProcessMessageAsync += _ => Task.CompletedTask;
        await processor.StartAsync(Cancelled);
        Assert.Null(processor.Failure);

        await client.Topics.DeleteAsync("jobs", cancellationToken: Cancelled);

        await Eventually.TrueAsync(
            () => processor.Failure is LightQException { Code: ErrorCode.TopicDeleted or ErrorCode.UnknownTopic },
            Patience,
            () => $"{processor.Failure}"
        );
        await client.Topics.CreateAsync(new TopicSpec("jobs"), Cancelled);
        await Eventually.TrueAsync(() => processor.Failure is null, Patience, () => $"{processor.Failure}");
    }

    [Fact]
    public void A_handler_alone_can_be_asked_whether_it_pauses()
    {
        var args = new ProcessMessageEventArgs(Message.Create("x"u8, deliveryCount: 1), "jobs", "workers", default);
        Assert.False(args.IsPaused);

        Assert.True(args.PauseAsync(Pause).IsCompletedSuccessfully);

        Assert.True(args.IsPaused);
        Assert.Throws<ArgumentOutOfRangeException>(() => new ProcessorPausedException("x", TimeSpan.Zero));
        Assert.ThrowsAny<ArgumentException>(() =>
        {
            _ = args.PauseAsync(TimeSpan.FromDays(2));
        });
    }

    private static LightQClientOptions Options(TestServer server, TimeProvider time) =>
        LightQClientOptions.Parse(server.ConnectionString) with
        {
            TimeProvider = time,
            ConnectionTime = TimeProvider.System,
        };

    /// <summary>Waits until the processor pauses and has given back what it held.</summary>
    private static Task PausedAsync(LightQClient client, LightQProcessor processor, string group = "workers") =>
        Eventually.TrueAsync(
            async () =>
                processor.Failure is not null
                && (await client.Groups.GetAsync("jobs", group, Cancelled)).Partitions.All(p => p.Members.Count == 0),
            Patience,
            () => $"still a member: {processor.Failure}"
        );

    private static async Task PublishAsync(LightQClient client, TopicSpec spec, int jobs = Jobs)
    {
        await client.Topics.CreateAsync(spec with { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(spec.Name, cancellationToken: Cancelled);
        await Task.WhenAll(
            Enumerable
                .Range(0, jobs)
                .Select(i =>
                    producer
                        .PublishAsync(BitConverter.GetBytes(i), key: $"{i % 3}", cancellationToken: Cancelled)
                        .AsTask()
                )
        );
    }
}
