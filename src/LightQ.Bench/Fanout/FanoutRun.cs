using System.Diagnostics;
using System.Globalization;
using LightQ.Bench.Roles;
using LightQ.Client;

namespace LightQ.Bench.Fanout;

/// <summary>One run: the processes with publishers and subscribers, from their start to their log.</summary>
internal sealed class FanoutRun(
    BenchSettings settings,
    FanoutSettings step,
    TimeSpan warmUp,
    string topic,
    LightQClient client,
    string server,
    IBenchConsole console
) : IAsyncDisposable
{
    private const int SubscribersPerProcess = 500;

    private static readonly TimeSpan SettlePoll = TimeSpan.FromMilliseconds(100),
        SettlePatience = TimeSpan.FromSeconds(10),
        Second = TimeSpan.FromSeconds(1);

    private readonly List<RoleProcess> _subscribers = [];
    private RoleProcess? _publishers;

    private int WarmUpEach => (int)Math.Ceiling(step.Rate * warmUp.TotalSeconds);

    /// <summary>Starts the processes; returns when all are connected and subscribed.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var spec = new FanoutSpec
        {
            Endpoint = server,
            Topic = topic,
            Publishers = step.Publishers,
            Size = step.Size,
            Rate = step.Rate,
            WarmUpEach = WarmUpEach,
            MessagesEach = step.MessagesEach,
            Ack = settings.Ack,
            Synchronised = step.Synchronised,
        };
        for (int first = 0; first < step.Subscribers; first += SubscribersPerProcess)
        {
            console.Progress(
                string.Create(CultureInfo.InvariantCulture, $"subscribers: {first:N0} of {step.Subscribers:N0}")
            );
            RoleProcess process = RoleProcess.Start(FanoutRole.Name);
            _subscribers.Add(process);
            await process.SendAsync(
                spec with
                {
                    FirstSubscriber = first,
                    Subscribers = Math.Min(SubscribersPerProcess, step.Subscribers - first),
                },
                FanoutJson.Default.FanoutSpec
            );
            await process.ExpectAsync(RoleEvent.Ready, cancellationToken);
        }
        _publishers = RoleProcess.Start(FanoutRole.Name);
        await _publishers.SendAsync(spec, FanoutJson.Default.FanoutSpec);
        await _publishers.ExpectAsync(RoleEvent.Ready, cancellationToken);
    }

    /// <summary>
    /// Publishes, and waits until every subscriber has everything and the broker every receipt, or nothing comes any
    /// more.
    /// </summary>
    public async Task<FanoutOutcome> MeasureAsync(CancellationToken cancellationToken)
    {
        await _publishers!.SendAsync("go");
        Task<RoleMessage> publishing = _publishers.ExpectAsync(RoleEvent.Done, cancellationToken);
        Task<RoleMessage>[] receiving = [.. _subscribers.Select(s => s.ExpectAsync(RoleEvent.Done, cancellationToken))];
        await TellProgressUntilAsync(FirstFailureOrAllAsync([publishing, .. receiving]), cancellationToken);
        RoleMessage published = await publishing;
        RoleMessage[] received = await Task.WhenAll(receiving);
        return new FanoutOutcome
        {
            Published = published.Messages,
            Settled = await CountSettledAsync(published.Messages * step.Subscribers, cancellationToken),
            Lost = received.Sum(r => r.Lost),
            Duplicated = received.Sum(r => r.Duplicated),
            Reordered = received.Sum(r => r.Reordered),
            Damaged = received.Sum(r => r.Damaged),
            MeasuredSeconds = Stopwatch
                .GetElapsedTime(published.StartTicks, Math.Max(published.EndTicks, received.Max(r => r.EndTicks)))
                .TotalSeconds,
        };
    }

    /// <summary>Has every process with subscribers add its entries, one after the other.</summary>
    public async Task WriteLogAsync(string path, CancellationToken cancellationToken)
    {
        console.Progress($"writing {path}");
        foreach (RoleProcess process in _subscribers)
        {
            await process.SendAsync(Path.GetFullPath(path));
            await process.ExpectAsync(RoleEvent.Done, cancellationToken);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_publishers is not null)
            await _publishers.DisposeAsync();
        foreach (RoleProcess process in _subscribers)
            await process.DisposeAsync();
    }

    private static async Task FirstFailureOrAllAsync(List<Task> tasks)
    {
        while (tasks.Count > 0)
        {
            Task done = await Task.WhenAny(tasks);
            await done;
            tasks.Remove(done);
        }
    }

    private async Task TellProgressUntilAsync(Task running, CancellationToken cancellationToken)
    {
        TimeSpan all = warmUp + step.Duration;
        for (
            TimeSpan elapsed = default;
            await Task.WhenAny(running, Task.Delay(Second, cancellationToken)) != running;
            elapsed += Second
        )
        {
            console.Progress(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{step.TotalRate:0.##} messages/s to {step.Subscribers:N0} subscribers: {elapsed.TotalSeconds:0} "
                        + $"of {all.TotalSeconds:0} s"
                )
            );
        }

        await running;
    }

    /// <summary>How many receipts the broker has counted, once it has all of them or no more arrive.</summary>
    private async Task<long> CountSettledAsync(long expected, CancellationToken cancellationToken)
    {
        long settled = -1;
        for (
            long since = Stopwatch.GetTimestamp();
            settled < expected && Stopwatch.GetElapsedTime(since) < SettlePatience;
            await Task.Delay(SettlePoll, cancellationToken)
        )
        {
            long before = settled;
            settled = (await client.Stats.GetTopicAsync(topic, cancellationToken)).MessagesSettled;
            if (settled != before)
                since = Stopwatch.GetTimestamp();
        }
        return settled;
    }
}
