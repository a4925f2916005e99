using System.Diagnostics;
using LightQ.Bench.Load;
using LightQ.Bench.Roles;
using LightQ.Client;

namespace LightQ.Bench.Fanout;

/// <summary>
/// The client process with all the publishers; one thread sends for all of them, each on its own connection, when it is
/// due.
/// </summary>
internal static class FanoutPublishRole
{
    /// <summary>How long the last acks may take.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    public static async Task RunAsync(RoleChannel parent, FanoutSpec spec, CancellationToken cancellationToken)
    {
        LightQClientOptions options = LightQClientOptions.Parse(spec.Endpoint) with { ReceiveMode = ReceiveMode.Async };
        var producers = new Producer[spec.Publishers];
        for (int i = 0; i < producers.Length; i++)
        {
            producers[i] = await new LightQClient(options).CreateProducerAsync(
                spec.Topic,
                new ProducerOptions { AckLevel = spec.Ack },
                cancellationToken
            );
        }

        RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });
        await parent.NextAsync();

        Task<(long Start, long End, List<Task> Acks)> publishing = Task.Factory.StartNew(
            () => Publish(producers, spec),
            cancellationToken,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default
        );
        (long start, long end, List<Task> acks) = await publishing;
        await Task.WhenAll(acks).WaitAsync(Patience, cancellationToken);
        RoleChannel.Say(
            new RoleMessage
            {
                Event = RoleEvent.Done,
                StartTicks = start,
                EndTicks = end,
                Messages = acks.Count,
            }
        );
    }

    /// <returns>When the first measured message was due, when the last one was sent, and the acks of all.</returns>
    private static (long Start, long End, List<Task> Acks) Publish(Producer[] producers, FanoutSpec spec)
    {
        var body = new FanoutBody(Environment.MachineName, spec.Size);
        var acks = new List<Task>(producers.Length * spec.AllEach);
        double period = Stopwatch.Frequency / spec.Rate;
        var pacer = new Pacer(spec.Rate * producers.Length);
        long began = Stopwatch.GetTimestamp();
        for (int i = 0; i < spec.AllEach; i++)
        {
            // Each publisher sends at another moment in every period. Otherwise the moments that they happened to get
            // would stay the same for the whole run.
            foreach (
                (int producer, long due) in Enumerable
                    .Range(0, producers.Length)
                    .Select(p => (p, DueOf(i)))
                    .OrderBy(p => p.Item2)
            )
            {
                pacer.WaitUntil(due);
                acks.Add(producers[producer].PublishAsync(body.Write(producer, i, due)).AsTask());
            }
        }
        return (began + (long)(spec.WarmUpEach * period), Stopwatch.GetTimestamp(), acks);

        long DueOf(int i) => began + (long)((i + (spec.Synchronised ? 0 : Random.Shared.NextDouble())) * period);
    }
}
