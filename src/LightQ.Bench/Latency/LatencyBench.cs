using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Sessions;

namespace LightQ.Bench.Latency;

/// <summary>How long a message takes at a rate, size by size: yardstick, product, yardstick, product ...</summary>
internal sealed class LatencyBench(BenchSettings settings, BenchSession session, IBenchConsole console)
{
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(1.5);

    /// <summary>The product's last run; null before there is one.</summary>
    public LatencyRun? LastRun { get; private set; }

    public async Task<IReadOnlyList<LatencyResult>> RunAsync(CancellationToken cancellationToken)
    {
        var results = new List<LatencyResult>();
        foreach (int size in settings.Sizes)
            results.AddRange(await RunAsync(size, cancellationToken));
        return results;
    }

    private async Task<IEnumerable<LatencyResult>> RunAsync(int size, CancellationToken cancellationToken)
    {
        LoadTarget[] targets = settings.AgainstNats
            ? [LoadTarget.Relay, LoadTarget.Nats, LoadTarget.LightQ]
            : [LoadTarget.Relay, LoadTarget.LightQ];
        console.Progress($"{size} B: warming up");
        foreach (LoadTarget target in targets)
        {
            await session.RunLatencyAsync(
                target,
                new LoadShape(settings.Kind, size),
                settings.Rate,
                WarmUp,
                cancellationToken
            );
        }

        Dictionary<LoadTarget, List<RunOutcome>> outcomes = targets.ToDictionary(t => t, _ => new List<RunOutcome>());
        for (int pair = 1; pair <= settings.Pairs; pair++)
        {
            foreach (LoadTarget target in targets)
            {
                RunOutcome outcome = await session.RunLatencyAsync(
                    target,
                    new LoadShape(settings.Kind, size),
                    settings.Rate,
                    settings.Duration,
                    cancellationToken
                );
                outcomes[target].Add(outcome);
                LastRun = outcome.LatencyRun ?? LastRun;
                console.Progress(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{size} B, pair {pair} of {settings.Pairs}: {target.ToString().ToLowerInvariant()} p50 "
                            + $"{outcome.Latency!.P50:F1} us, p99 {outcome.Latency.P99:F1} us"
                    )
                );
            }
        }
        return targets
            .Where(t => t != LoadTarget.LightQ)
            .Select(t => Summarize(size, t, outcomes[LoadTarget.LightQ], outcomes[t]));
    }

    private LatencyResult Summarize(int size, LoadTarget yardstick, List<RunOutcome> product, List<RunOutcome> other)
    {
        LatencyFigures latency = LatencyFigures.MedianOf([.. product.Select(o => o.Latency!)]),
            otherLatency = LatencyFigures.MedianOf([.. other.Select(o => o.Latency!)]);
        var result = new LatencyResult
        {
            Size = size,
            Kind = settings.KindName,
            Ack = settings.AckName,
            Api = "message",
            Messages = (long)Math.Ceiling(settings.Rate * settings.Duration.TotalSeconds),
            Yardstick = yardstick.ToString().ToLowerInvariant(),
            YardstickMessagesPerSecond = Math.Round(Median.Of(other.Select(o => o.MessagesPerSecond)), 1),
            Ratio = Math.Round(latency.P50 / otherLatency.P50, 3),
            RatioP99 = Math.Round(latency.P99 / otherLatency.P99, 3),
            Pairs = settings.Pairs,
            YardstickFaults = other.Sum(o => o.Faults),
            Rate = settings.Rate,
            LatencyUs = latency,
            YardstickLatencyUs = otherLatency,
        };
        return session.Summarize(result, product);
    }
}
