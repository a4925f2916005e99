using System.Diagnostics;
using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Idle;
using LightQ.Bench.Processes;
using LightQ.Client;

namespace LightQ.Bench.Fanout;

/// <summary>
/// Few publishers, a thousand subscribers, as many idle connections as there can be: how long a message takes to each
/// subscriber.
/// </summary>
internal sealed class FanoutBench(BenchSettings settings, FanoutSettings fanout, IBenchConsole console)
    : IAsyncDisposable
{
    /// <summary>What the document had; more is not asked for by itself.</summary>
    private const int UsualIdle = 20_000;

    private const double SweptUs = 1_000_000;

    /// <summary>Each step of a sweep, times the rate asked for.</summary>
    private static readonly double[] SweepSteps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64];

    private static readonly TimeSpan LongestWarmUp = TimeSpan.FromSeconds(3),
        LongestStep = TimeSpan.FromSeconds(10);

    private readonly IdleProcesses _idle = new(console);
    private EmbeddedBroker? _broker;
    private LightQClient? _client;
    private string _server = "";
    private int _idleConnections;

    public async Task<IReadOnlyList<FanoutResult>> RunAsync(CancellationToken cancellationToken)
    {
        FanoutLog.Create(FanoutLog.PathIn(fanout.LogDirectory));
        _idleConnections = CountIdle();
        await StartBrokerAsync(cancellationToken);
        Task<List<FanoutResult>> running = RunStepsAsync(cancellationToken);
        if (_broker is not null)
            await _broker.WhileAliveAsync(running);
        return await running;
    }

    public async ValueTask DisposeAsync()
    {
        await _idle.DisposeAsync();
        if (_client is not null)
            await _client.DisposeAsync();
        if (_broker is not null)
            await _broker.DisposeAsync();
    }

    private int CountIdle()
    {
        int active = fanout.Publishers + fanout.Subscribers;
        if (settings.Server is not null)
            return fanout.Idle ?? 0;
        IdleProcesses.ThrowIfTooMany(fanout.Idle ?? 0, active);
        return fanout.Idle ?? Math.Min(UsualIdle, IdleProcesses.RoomBeside(active));
    }

    private async Task StartBrokerAsync(CancellationToken cancellationToken)
    {
        if (settings.Server is null)
        {
            int connections =
                fanout.Publishers + fanout.Subscribers + _idleConnections + IdleProcesses.OtherDescriptors;
            _broker = await EmbeddedBroker.StartAsync(
                settings.DataDirectory,
                cancellationToken,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $$"""{"DataPlane": {"MaxConnections": {{connections}}, "MaxConnectionsPerAddress": {{connections}} } }"""
                )
            );
        }
        _server = settings.Server ?? _broker!.ConnectionString;
        _client = new LightQClient(LightQClientOptions.Parse(_server));
        await _client.ConnectAsync(cancellationToken);
    }

    private async Task<List<FanoutResult>> RunStepsAsync(CancellationToken cancellationToken)
    {
        await _idle.OpenAsync(_server, _idleConnections, cancellationToken);
        var results = new List<FanoutResult>();
        foreach (double factor in fanout.Sweep ? SweepSteps : [1])
        {
            FanoutSettings step = fanout with
            {
                Rate = fanout.Rate * factor,
                Duration = fanout.Sweep && fanout.Duration > LongestStep ? LongestStep : fanout.Duration,
            };
            string topic = $"bench-{Guid.NewGuid():N}";
            await _client!.Topics.CreateAsync(new TopicSpec(topic) { Kind = settings.Kind }, cancellationToken);
            try
            {
                await using var run = new FanoutRun(
                    settings,
                    step,
                    step.Duration < LongestWarmUp ? step.Duration : LongestWarmUp,
                    topic,
                    _client,
                    _server,
                    console
                );
                results.Add(await MeasureAsync(run, step, cancellationToken));
            }
            finally
            {
                await DeleteAsync(topic);
            }
            if (!results[^1].IsSound || results[^1].Fanout.MeanUs > SweptUs)
                break;
        }
        return results;
    }

    private async Task<FanoutResult> MeasureAsync(
        FanoutRun run,
        FanoutSettings step,
        CancellationToken cancellationToken
    )
    {
        string log = FanoutLog.PathIn(fanout.LogDirectory);
        await run.StartAsync(cancellationToken);
        ProcessUsage before = _broker?.Usage ?? default;
        long began = Stopwatch.GetTimestamp();
        FanoutOutcome outcome = await run.MeasureAsync(cancellationToken);
        ProcessUsage after = _broker?.Usage ?? default;
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        double load = SystemLoad.LastMinute();
        await _idle.CheckAsync(cancellationToken);
        FanoutLog.Create(log);
        await run.WriteLogAsync(log, cancellationToken);
        (LatencyHistogram latencies, double mean) = FanoutLog.Read(log);
        long expected = (long)step.Publishers * step.MessagesEach * step.Subscribers;
        return new FanoutResult
        {
            Size = step.Size,
            Kind = settings.KindName,
            Ack = settings.AckName,
            Api = "message",
            Messages = outcome.Published,
            MessagesPerSecond = Math.Round(latencies.Count / outcome.MeasuredSeconds, 1),
            Yardstick = "document",
            Ratio = Math.Round(mean / FanoutFigures.Document.MeanUs, 4),
            Pairs = 1,
            Lost = outcome.Lost,
            Duplicated = outcome.Duplicated,
            Reordered = outcome.Reordered,
            Damaged = outcome.Damaged,
            LatencyUs = LatencyFigures.Of(latencies),
            BrokerCpuSeconds = _broker is null ? null : Math.Round(after.CpuSeconds - before.CpuSeconds, 3),
            BrokerPeakRssBytes = _broker is null ? null : after.PeakBytes,
            Fanout = new FanoutFigures
            {
                Publishers = step.Publishers,
                Subscribers = step.Subscribers,
                Rate = step.TotalRate,
                IdleConnections = _idleConnections,
                Published = outcome.Published,
                Settled = outcome.Settled,
                Entries = latencies.Count,
                MeanUs = Math.Round(mean, 1),
                LossPercent = 100.0 * (expected - latencies.Count) / expected,
                DeliveriesPerSecond = Math.Round(latencies.Count / outcome.MeasuredSeconds, 1),
                CpuPercent = _broker is null
                    ? null
                    : Math.Round(100 * (after.CpuSeconds - before.CpuSeconds) / seconds, 1),
                Load = load,
                RssBytes = _broker is null ? null : after.ResidentBytes,
            },
        };
    }

    private async Task DeleteAsync(string topic)
    {
        try
        {
            await _client!.Topics.DeleteAsync(topic, CancellationToken.None);
        }
        catch (LightQException e)
        {
            // The broker is gone, and the reason was reported already.
            console.Note($"The topic {topic} could not be deleted: {e.Message}");
        }
    }
}
