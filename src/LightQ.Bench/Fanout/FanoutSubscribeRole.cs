using System.Diagnostics;
using LightQ.Bench.Roles;
using LightQ.Client;

namespace LightQ.Bench.Fanout;

/// <summary>A client process with some of the subscribers.</summary>
internal static class FanoutSubscribeRole
{
    private const int StartedAtOnce = 16;

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);

    /// <summary>Silence after which what is missing counts as lost.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    public static async Task RunAsync(RoleChannel parent, FanoutSpec spec, CancellationToken cancellationToken)
    {
        LightQClientOptions options = LightQClientOptions.Parse(spec.Endpoint) with { ReceiveMode = ReceiveMode.Async };
        var reader = new FanoutBody(Environment.MachineName, spec.Size);
        FanoutSubscriber[] subscribers =
        [
            .. Enumerable.Range(0, spec.Subscribers).Select(_ => new FanoutSubscriber(options, spec)),
        ];
        var parallel = new ParallelOptions
        {
            MaxDegreeOfParallelism = StartedAtOnce,
            CancellationToken = cancellationToken,
        };
        await Parallel.ForEachAsync(
            subscribers,
            parallel,
            async (subscriber, _) => await subscriber.StartAsync(spec.Topic, reader)
        );
        RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });

        FanoutLedger[] ledgers = [.. subscribers.Select(s => s.Ledger)];
        long each = (long)spec.Publishers * spec.AllEach;
        await WaitAsync(Task.WhenAny(subscribers.Select(s => s.Failed)), ledgers, each * ledgers.Length);
        RoleChannel.Say(
            new RoleMessage
            {
                Event = RoleEvent.Done,
                EndTicks = Stopwatch.GetTimestamp(),
                Messages = ledgers.Sum(l => l.Taken),
                Lost = ledgers.Sum(l => each - l.Taken),
                Duplicated = ledgers.Sum(l => l.Duplicated),
                Reordered = ledgers.Sum(l => l.Reordered),
                Damaged = ledgers.Sum(l => l.Damaged),
            }
        );
        FanoutLog.Append(await parent.NextAsync(), spec.FirstSubscriber, ledgers);
        RoleChannel.Say(new RoleMessage { Event = RoleEvent.Done });
    }

    /// <summary>Waits until everything has come, or nothing has for too long.</summary>
    private static async Task WaitAsync(Task<Task> failed, FanoutLedger[] ledgers, long expected)
    {
        long seen = 0;
        for (
            long since = Stopwatch.GetTimestamp();
            seen < expected && (seen == 0 || Stopwatch.GetElapsedTime(since) < Patience);

        )
        {
            if (await Task.WhenAny(failed, Task.Delay(Look)) == failed)
                await await failed;
            long taken = ledgers.Sum(l => l.Taken);
            if (taken != seen)
                since = Stopwatch.GetTimestamp();
            seen = taken;
        }
    }
}
