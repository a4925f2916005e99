using System.Globalization;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Bench.Roles;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench.Reference;

/// <summary>The grid of the reference documents, each cell beside what they have published.</summary>
internal sealed class ReferenceBench(BenchSettings settings, IReadOnlyList<TopicKind> kinds, BenchSession session, CommandConsole console)
{
    private static readonly long[] WarmUps = [100_000, 1_000_000];

    /// <summary>What the figures must be read with.</summary>
    public static IReadOnlyList<string> Remarks { get; } =
    [
        "The documents' figures are from another machine (MacBook Pro of 2013, Core i7 2.3 GHz) and system: a ratio says what this broker does here beside what that one did there.",
        "'published' is the producer's rate as printed; 'true' is ten million messages divided by the time from the first sent to the last sent or received, by the printed timestamps.",
        "The documents' durable broker did not wait for the disk; here a durable message is acknowledged and delivered when fdatasync has returned.",
        "Latency is a message's, at full speed: it is mostly the time in the queues between producer and consumer.",
    ];

    public async Task<IReadOnlyList<BenchResult>> RunAsync(CancellationToken cancellationToken)
    {
        var results = new List<BenchResult>();
        foreach (TopicKind kind in kinds)
        {
            foreach (int size in settings.Sizes)
                results.AddRange(await RunAsync(new LoadShape(kind, size), cancellationToken));
        }
        return results;
    }

    private async Task<IEnumerable<BenchResult>> RunAsync(LoadShape shape, CancellationToken cancellationToken)
    {
        BenchSettings cell = settings with { Kind = shape.Kind };
        string name = $"{cell.KindName}, {shape.Size} B";
        long messages = settings.Messages ?? PublishedFigure.Messages;
        console.Progress($"{name}: warming up");
        foreach (long few in WarmUps)
            await session.RunThroughputAsync(LoadTarget.LightQ, shape, Math.Min(few, messages), cancellationToken);
        var outcomes = new List<RunOutcome>();
        for (int run = 1; run <= settings.Pairs; run++)
        {
            outcomes.Add(await session.RunThroughputAsync(LoadTarget.LightQ, shape, messages, cancellationToken));
            console.Progress(string.Create(CultureInfo.InvariantCulture, $"{name}, run {run} of {settings.Pairs}: {outcomes[^1].MessagesPerSecond:N0} messages/s"));
        }
        BenchResult product = session.Summarize(cell, shape.Size, messages, outcomes);
        return PublishedFigure.All.Where(f => f.Kind == shape.Kind && f.Size == shape.Size).Select(f => product with
        {
            Yardstick = f.Document,
            YardstickMessagesPerSecond = Math.Round(f.TrueMessagesPerSecond),
            PublishedMessagesPerSecond = f.MessagesPerSecond,
            Ratio = Math.Round(product.MessagesPerSecond!.Value / f.TrueMessagesPerSecond, 3),
        });
    }
}
