using System.Text.Json;
using LightQ.Bench;
using LightQ.Bench.Nats;
using LightQ.Bench.Processes;
using LightQ.Broker.Replication;
using LightQ.Cli.Clusters;
using LightQ.Client;
using LightQ.Replication.Nats;
using LightQ.Server;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Cli.Bench.Cluster;

/// <summary>
/// Measures topics with replicas beside the servers that they are on, in turns: what the broker makes of the engine's
/// rate.
/// </summary>
internal sealed class ClusterBench(ClusterBenchSettings settings, IBenchConsole console)
{
    private const string Name = "bench";
    private const int Replicas = 3;

    public async Task<ClusterReport> RunAsync(CancellationToken cancellationToken)
    {
        string folder = Path.Combine(settings.Folder ?? Path.GetTempPath(), $"lightq-bench-{Guid.NewGuid():N}");
        try
        {
            if (settings.Engine is { } running)
                return await WithEngineAsync(running, cancellationToken);
            console.Progress("start three nats-servers");
            await using NatsServers servers = await NatsServers.StartAsync(
                folder,
                settings.SyncAlways,
                cancellationToken
            );
            return await WithEngineAsync(string.Join(',', servers.Addresses), cancellationToken);
        }
        catch (ReplicationException e)
        {
            throw new BenchException(BenchFailure.Failed, e.Message);
        }
        finally
        {
            if (Directory.Exists(folder))
                Directory.Delete(folder, recursive: true);
        }
    }

    private async Task<ClusterReport> WithEngineAsync(string addresses, CancellationToken cancellationToken)
    {
        await using EngineBenchmark engine = await EngineBenchmark.ConnectAsync(
            EngineSettings.Of(new ClusterOptions { Engine = addresses, Name = Name }, NullLoggerFactory.Instance),
            cancellationToken
        );
        if (settings.Server is { } server)
            return await MeasureAsync(engine, server, cancellationToken);
        console.Progress("start a broker");
        await using EmbeddedBroker broker = await EmbeddedBroker.StartAsync(
            settings.Folder,
            cancellationToken,
            $$"""
            { "Cluster": { "Engine": "{{JsonEncodedText.Encode(
                addresses
            )}}", "Name": "{{Name}}", "RequireSync": false } }
            """
        );
        return await MeasureAsync(engine, broker.ConnectionString, cancellationToken);
    }

    private async Task<ClusterReport> MeasureAsync(
        EngineBenchmark engine,
        string server,
        CancellationToken cancellationToken
    )
    {
        await using var load = new ReplicatedLoad(new LightQClient(server), settings);
        await load.CreateAsync(cancellationToken);
        List<ClusterRound> rounds = [];
        for (int round = 1; round <= settings.Pairs; round++)
            rounds.Add(await RoundAsync(engine, load, $"run {round} of {settings.Pairs}: ", cancellationToken));
        return ClusterReport.Of(engine.Description, settings, rounds);
    }

    private async Task<ClusterRound> RoundAsync(
        EngineBenchmark engine,
        ReplicatedLoad load,
        string progress,
        CancellationToken cancellationToken
    )
    {
        console.Progress(progress + "LightQ, batches");
        ulong before = await engine.CountEntriesAsync("LQ_", cancellationToken);
        (long bytes, TimeSpan elapsed) = await load.BatchesAsync(cancellationToken);
        ulong entries = await engine.CountEntriesAsync("LQ_", cancellationToken) - before;
        double runBytes = (double)bytes / Math.Max(entries, 1);
        console.Progress(progress + "engine, one append at a time");
        EngineRate single = await engine.OneAtATimeAsync(
            settings.Partitions,
            Replicas,
            (int)Math.Max(runBytes, 1),
            settings.Time,
            cancellationToken
        );
        console.Progress(progress + "engine, pipeline");
        EngineRate pipelined = await engine.PipelinedAsync(
            settings.Partitions,
            Replicas,
            settings.BatchBytes,
            settings.Window,
            settings.Time,
            cancellationToken
        );
        console.Progress(progress + "latency of one batch at a time");
        (TimeSpan median, TimeSpan late) = await load.OneAtATimeAsync(cancellationToken);
        EngineRate one = await engine.OneAtATimeAsync(
            1,
            Replicas,
            settings.BatchBytes,
            settings.Time,
            cancellationToken
        );
        List<ClusterRound.MessageRound> messages = [];
        foreach (int size in settings.MessageSizes)
        {
            console.Progress($"{progress}messages of {size} B");
            double lightQ = await load.MessagesAsync(size, cancellationToken);
            EngineRate jetStream = await engine.MessagesAsync(
                settings.Partitions,
                Replicas,
                size,
                settings.InFlight,
                settings.Time,
                cancellationToken
            );
            messages.Add(new(size, jetStream.EntriesPerSecond, lightQ));
        }
        return new ClusterRound
        {
            LightQ = bytes / elapsed.TotalSeconds,
            RunBytes = runBytes,
            OneAtATime = single.BytesPerSecond,
            Pipelined = pipelined.BytesPerSecond,
            LightQMedian = median,
            LightQLate = late,
            EngineMedian = one.Median,
            EngineLate = one.Late,
            Messages = messages,
        };
    }
}
