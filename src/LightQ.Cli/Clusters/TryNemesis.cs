using System.Diagnostics;
using LightQ.Bench.Nats;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Clusters;

/// <summary>Does one fault after the other to the processes of a cluster, and keeps what each of them cost.</summary>
/// <param name="engine">The nats-servers.</param>
/// <param name="brokers">The brokers, each of which is running.</param>
/// <param name="load">Who is to be without acks meanwhile.</param>
internal sealed class TryNemesis(NatsServers engine, IReadOnlyList<TryBroker> brokers, TryLoad load)
{
    /// <summary>For how long what was killed is gone.</summary>
    private static readonly TimeSpan Down = TimeSpan.FromSeconds(1);

    /// <summary>For how long what stands still does: longer than anybody waits for a heartbeat.</summary>
    private static readonly TimeSpan Still = TimeSpan.FromSeconds(5);

    /// <summary>For how long a producer may be without an ack once all that was taken is back.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(100);

    private readonly SortedDictionary<TryFault, List<double>> _silences = [];
    private int _count;

    /// <summary>How many faults there were.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>How many of them killed a leader. Once <see cref="RunAsync"/> has ended.</summary>
    public int Kills => _silences.GetValueOrDefault(TryFault.KillBroker)?.Count ?? 0;

    /// <summary>What each fault came to. Once <see cref="RunAsync"/> has ended.</summary>
    public IReadOnlyList<FaultView> Results =>
        [
            .. _silences.Select(kind =>
            {
                double[] sorted = [.. kind.Value.Order()];
                return new FaultView(
                    ValueOptions.Hyphenated(kind.Key),
                    sorted.Length,
                    sorted[(sorted.Length - 1) / 2],
                    sorted[^1]
                );
            }),
        ];

    /// <summary>Does the faults in turn until the end; one that has begun is ended, and what it took is back.</summary>
    /// <param name="client">Who knows the leaders.</param>
    /// <param name="topic">The topic under load.</param>
    /// <param name="faults">What is done, in this order, again and again.</param>
    /// <param name="often">The time from the end of a fault to the next one.</param>
    /// <param name="tell">Is called at each fault with what is done, and to whom.</param>
    /// <param name="end">Ends it.</param>
    /// <exception cref="CommandException">A fault has left a partition without acks.</exception>
    public async Task RunAsync(
        LightQClient client,
        string topic,
        IReadOnlyList<TryFault> faults,
        TimeSpan often,
        Action<string> tell,
        CancellationToken end
    )
    {
        for (int i = 0; ; i++)
        {
            await Task.Delay(often, end).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (end.IsCancellationRequested)
                return;
            TryFault fault = faults[i % faults.Count];
            int partition = i / faults.Count % TryLoad.Partitions;
            load.BeginSilence();
            Interlocked.Increment(ref _count);
            await DoAsync(client, topic, fault, partition, whom => tell($"{ValueOptions.Hyphenated(fault)} {whom}"));
            Keep(fault, await load.EndSilenceAsync(Patience));
        }
    }

    private void Keep(TryFault fault, TimeSpan silence)
    {
        if (!_silences.TryGetValue(fault, out List<double>? all))
            _silences.Add(fault, all = []);
        all.Add(Math.Round(silence.TotalMilliseconds));
    }

    private async Task DoAsync(LightQClient client, string topic, TryFault fault, int partition, Action<string> tell)
    {
        switch (fault)
        {
            case TryFault.KillBroker or TryFault.StopBroker or TryFault.PauseBroker:
                TryBroker broker = await LeaderAsync(client, topic, partition);
                tell(broker.Name);
                if (fault == TryFault.PauseBroker)
                {
                    await broker.PauseAsync(Still);
                    break;
                }
                await (fault == TryFault.KillBroker ? broker.KillAsync() : broker.StopAsync());
                await Task.Delay(Down);
                await broker.StartAsync(CancellationToken.None);
                break;
            case TryFault.KillEngine or TryFault.PauseEngine:
                int server = await engine.LeaderAsync(CancellationToken.None);
                tell(NatsServers.NameOf(server));
                if (fault == TryFault.PauseEngine)
                {
                    await engine.PauseAsync(server, Still);
                    break;
                }
                await engine.KillAsync(server);
                await Task.Delay(Down);
                engine.Start(server);
                await engine.WaitUntilReadyAsync(CancellationToken.None);
                break;
            default:
                tell("of brokers and nats-servers");
                await Task.WhenAll([
                    .. brokers.Select(b => b.KillAsync()),
                    .. Enumerable.Range(0, NatsServers.Count).Select(engine.KillAsync),
                ]);
                await Task.Delay(Down);
                for (int i = 0; i < NatsServers.Count; i++)
                    engine.Start(i);
                await Task.WhenAll(brokers.Select(b => b.StartAsync(CancellationToken.None)));
                break;
        }
    }

    /// <summary>The broker that leads a partition: waits until one does.</summary>
    /// <exception cref="CommandException">None does.</exception>
    private async Task<TryBroker> LeaderAsync(LightQClient client, string topic, int partition)
    {
        var watch = Stopwatch.StartNew();
        while (watch.Elapsed < Patience)
        {
            try
            {
                ClusterInfo cluster = await client.Cluster.GetAsync([topic], CancellationToken.None);
                string? leader = cluster.Partitions.FirstOrDefault(p => p.Partition == partition)?.Node;
                if (brokers.FirstOrDefault(b => b.Name == leader) is { } found)
                    return found;
            }
            catch (LightQException e) when (e.IsTransient)
            {
                // Another broker answers next time.
            }
            await Task.Delay(Poll);
        }
        throw new CommandException(
            ExitCode.Failed,
            $"No broker has led partition {partition} of {topic} for {Patience.TotalSeconds} s."
        );
    }
}
