using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Sessions;
using LightQ.Client;

namespace LightQ.Bench.Reference;

/// <summary>The grid of the reference documents, each cell beside what they have published.</summary>
internal sealed class ReferenceBench(
    BenchSettings settings,
    IReadOnlyList<TopicKind> kinds,
    BenchSession session,
    IBenchConsole console
)
{
    private static readonly long[] WarmUps = [100_000, 1_000_000];

    /// <summary>What the figures must be read with.</summary>
    public static IReadOnlyList<string> Remarks { get; } =
    [
        "The documents' figures are from another machine (MacBook Pro of 2013, Core i7 2.3 GHz) and system: a ratio "
            + "says what this broker does here beside what that one did there.",
        "'published' is the producer's rate as printed; 'true' is ten million messages divided by the time from the "
            + "first sent to the last sent or received, by the printed timestamps.",
        "The documents' durable broker did not wait for the disk; here a durable message is acknowledged and "
            + "delivered when fdatasync has returned.",
        "Latency is a message's, at full speed: it is mostly the time in the queues between producer and consumer.",
    ];

    public async Task<IReadOnlyList<ReferenceResult>> RunAsync(CancellationToken cancellationToken)
    {
        var results = new List<ReferenceResult>();
        foreach (TopicKind kind in kinds)
        {
            foreach (int size in settings.Sizes)
                results.AddRange(await RunAsync(new LoadShape(kind, size), cancellationToken));
        }
        return results;
    }

    private async Task<IEnumerable<ReferenceResult>> RunAsync(LoadShape shape, CancellationToken cancellationToken)
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
            console.Progress(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{name}, run {run} of {settings.Pairs}: {outcomes[^1].MessagesPerSecond:N0} messages/s"
                )
            );
        }
        return PublishedFigure
            .All.Where(f => f.Kind == shape.Kind && f.Size == shape.Size)
            .Select(f => Summarize(cell, f, messages, outcomes));
    }

    private ReferenceResult Summarize(
        BenchSettings cell,
        PublishedFigure figure,
        long messages,
        List<RunOutcome> outcomes
    )
    {
        ReferenceResult result = session.Summarize(
            new ReferenceResult
            {
                Size = figure.Size,
                Kind = cell.KindName,
                Ack = cell.AckName,
                Api = cell.ApiName,
                Messages = messages,
                Yardstick = figure.Document,
                YardstickMessagesPerSecond = Math.Round(figure.TrueMessagesPerSecond),
                PublishedMessagesPerSecond = figure.MessagesPerSecond,
                Pairs = cell.Pairs,
                LatencyUs = LatencyFigures.MedianOf([.. outcomes.Select(o => o.Latency!)]),
            },
            outcomes
        );
        return result with { Ratio = Math.Round(result.MessagesPerSecond / figure.TrueMessagesPerSecond, 3) };
    }
}
