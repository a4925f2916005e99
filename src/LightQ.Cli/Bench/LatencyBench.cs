using System.Globalization;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Bench.Roles;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary>How long a message takes at a rate, size by size: yardstick, product, yardstick, product ...</summary>
internal sealed class LatencyBench(BenchSettings settings, BenchSession session, CommandConsole console)
{
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(1.5);

    private LatencyRun? _last;

    /// <summary>The product's last run in the layout of the reference document.</summary>
    public IEnumerable<string> Lines() => _last is { } run ? LatencyLines.Of(settings.Sizes[^1], settings.Rate, settings.Duration, run) : [];

    public async Task<IReadOnlyList<BenchResult>> RunAsync(CancellationToken cancellationToken)
    {
        var results = new List<BenchResult>();
        foreach (int size in settings.Sizes)
            results.AddRange(await RunAsync(size, cancellationToken));
        return results;
    }

    private async Task<IEnumerable<BenchResult>> RunAsync(int size, CancellationToken cancellationToken)
    {
        LoadTarget[] targets = settings.AgainstNats ? [LoadTarget.Relay, LoadTarget.Nats, LoadTarget.LightQ] : [LoadTarget.Relay, LoadTarget.LightQ];
        console.Progress($"{size} B: warming up");
        foreach (LoadTarget target in targets)
            await session.RunLatencyAsync(target, new LoadShape(settings.Kind, size), settings.Rate, WarmUp, cancellationToken);
        Dictionary<LoadTarget, List<RunOutcome>> outcomes = targets.ToDictionary(t => t, _ => new List<RunOutcome>());
        for (int pair = 1; pair <= settings.Pairs; pair++)
        {
            foreach (LoadTarget target in targets)
            {
                RunOutcome outcome = await session.RunLatencyAsync(target, new LoadShape(settings.Kind, size), settings.Rate, settings.Duration, cancellationToken);
                outcomes[target].Add(outcome);
                _last = outcome.LatencyRun ?? _last;
                console.Progress(string.Create(
                    CultureInfo.InvariantCulture,
                    $"{size} B, pair {pair} of {settings.Pairs}: {target.ToString().ToLowerInvariant()} p50 {outcome.Latency!.P50:F1} us, p99 {outcome.Latency.P99:F1} us"));
            }
        }
        return targets.Where(t => t != LoadTarget.LightQ).Select(t => Summarize(size, t, outcomes[LoadTarget.LightQ], outcomes[t]));
    }

    private BenchResult Summarize(int size, LoadTarget yardstick, List<RunOutcome> product, List<RunOutcome> other)
    {
        BenchResult result = session.Summarize(settings with { Api = LoadApi.Message }, size, (long)Math.Ceiling(settings.Rate * settings.Duration.TotalSeconds), product);
        LatencyFigures latency = result.LatencyUs!, otherLatency = LatencyFigures.MedianOf([.. other.Select(o => o.Latency!)]);
        return result with
        {
            Yardstick = yardstick.ToString().ToLowerInvariant(),
            YardstickMessagesPerSecond = Math.Round(Median.Of(other.Select(o => o.MessagesPerSecond)), 1),
            Ratio = Math.Round(latency.P50 / otherLatency.P50, 3),
            RatioP99 = Math.Round(latency.P99 / otherLatency.P99, 3),
            Rate = settings.Rate,
            YardstickFaults = other.Sum(o => o.Faults),
            YardstickLatencyUs = otherLatency,
        };
    }
}
