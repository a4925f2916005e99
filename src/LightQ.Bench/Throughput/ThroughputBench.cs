using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Sessions;

namespace LightQ.Bench.Throughput;

/// <summary>How many messages a second, size by size: yardstick, product, yardstick, product ...</summary>
internal sealed class ThroughputBench(BenchSettings settings, BenchSession session, IBenchConsole console)
{
    /// <summary>A message's framing, and its share of a batch's.</summary>
    private const int MostOverhead = 32;

    private const long FirstMessages = 100_000;
    private const long FewestMessages = 1000;
    private const int RoundTo = 1000;

    /// <summary>How many messages a topic can hold before a consumer that catches up begins.</summary>
    public static long MostMessages(int size) => BenchSession.MostBacklogBytes / (size + MostOverhead);

    public async Task<IReadOnlyList<ThroughputResult>> RunAsync(CancellationToken cancellationToken)
    {
        var results = new List<ThroughputResult>();
        foreach (int size in settings.Sizes)
            results.AddRange(await RunAsync(size, cancellationToken));
        return results;
    }

    private async Task<IEnumerable<ThroughputResult>> RunAsync(int size, CancellationToken cancellationToken)
    {
        LoadTarget[] targets = settings.AgainstNats
            ? [LoadTarget.Relay, LoadTarget.Nats, LoadTarget.LightQ]
            : [LoadTarget.Relay, LoadTarget.LightQ];
        long messages = await WarmUpAsync(targets, size, cancellationToken);
        Dictionary<LoadTarget, List<RunOutcome>> outcomes = targets.ToDictionary(t => t, _ => new List<RunOutcome>());
        for (int pair = 1; pair <= settings.Pairs; pair++)
        {
            foreach (LoadTarget target in targets)
            {
                RunOutcome outcome = await session.RunThroughputAsync(
                    target,
                    new LoadShape(settings.Kind, size),
                    messages,
                    cancellationToken
                );
                outcomes[target].Add(outcome);
                console.Progress(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{size} B, pair {pair} of {settings.Pairs}: {target.ToString().ToLowerInvariant()} "
                            + $"{outcome.MessagesPerSecond:N0} messages/s"
                    )
                );
            }
        }
        return targets
            .Where(t => t != LoadTarget.LightQ)
            .Select(t => Summarize(size, messages, t, outcomes[LoadTarget.LightQ], outcomes[t]));
    }

    /// <summary>
    /// Runs everything until its code is compiled for speed, and finds how many messages make a run of the wanted
    /// length.
    /// </summary>
    private async Task<long> WarmUpAsync(LoadTarget[] targets, int size, CancellationToken cancellationToken)
    {
        console.Progress($"{size} B: warming up");
        double slowest = double.MaxValue;
        foreach (LoadTarget target in targets)
        {
            long messages = Math.Min(FirstMessages, settings.Messages ?? long.MaxValue);
            double rate = (
                await session.RunThroughputAsync(
                    target,
                    new LoadShape(settings.Kind, size),
                    messages,
                    cancellationToken
                )
            ).MessagesPerSecond;
            messages = settings.Messages ?? Math.Min(MostOf(size), Math.Max(messages, (long)rate));
            rate = (
                await session.RunThroughputAsync(
                    target,
                    new LoadShape(settings.Kind, size),
                    messages,
                    cancellationToken
                )
            ).MessagesPerSecond;
            slowest = Math.Min(slowest, rate);
        }
        return settings.Messages
            ?? Math.Max(
                FewestMessages,
                Math.Min(MostOf(size), (long)(slowest * settings.Duration.TotalSeconds)) / RoundTo * RoundTo
            );
    }

    private long MostOf(int size) => settings.CatchUp ? MostMessages(size) : long.MaxValue;

    private ThroughputResult Summarize(
        int size,
        long messages,
        LoadTarget yardstick,
        List<RunOutcome> product,
        List<RunOutcome> other
    )
    {
        double rate = Median.Of(product.Select(o => o.MessagesPerSecond)),
            otherRate = Median.Of(other.Select(o => o.MessagesPerSecond));
        var result = new ThroughputResult
        {
            Size = size,
            Kind = settings.KindName,
            Ack = settings.AckName,
            Api = settings.ApiName,
            Messages = messages,
            Yardstick = yardstick.ToString().ToLowerInvariant(),
            YardstickMessagesPerSecond = Math.Round(otherRate),
            Ratio = Math.Round(rate / otherRate, 3),
            Pairs = settings.Pairs,
            YardstickFaults = other.Sum(o => o.Faults),
            YardstickRuns = [.. other.Select(o => Math.Round(o.MessagesPerSecond))],
        };
        return session.Summarize(result, product);
    }
}
