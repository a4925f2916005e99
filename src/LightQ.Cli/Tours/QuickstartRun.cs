using LightQ.Cli.Bench;

namespace LightQ.Cli.Tours;

/// <summary>One line of the table.</summary>
internal sealed record QuickstartRun
{
    private const double BytesPerMiB = 1024 * 1024;

    public required string Kind { get; init; }

    public int Size { get; init; }

    public long Messages { get; init; }

    public double MessagesPerSecond { get; init; }

    public double MibPerSecond { get; init; }

    /// <summary>From publish to receipt, at a thousand messages a second.</summary>
    public double LatencyP50Us { get; init; }

    public double LatencyP99Us { get; init; }

    /// <summary>What an ack promises.</summary>
    public required string Durability { get; init; }

    public long Lost { get; init; }

    public long Duplicated { get; init; }

    public long Reordered { get; init; }

    public long Damaged { get; init; }

    public static QuickstartRun Of(BenchSettings settings, LoadShape shape, long messages, RunOutcome moved, RunOutcome paced) => new()
    {
        Kind = settings.KindName,
        Size = shape.Size,
        Messages = messages,
        MessagesPerSecond = Math.Round(moved.MessagesPerSecond),
        MibPerSecond = Math.Round(moved.MessagesPerSecond * shape.Size / BytesPerMiB, 1),
        LatencyP50Us = Math.Round(paced.Latency!.P50, 1),
        LatencyP99Us = Math.Round(paced.Latency.P99, 1),
        Durability = settings.AckName,
        Lost = moved.Consumed.Lost + paced.Consumed.Lost,
        Duplicated = moved.Consumed.Duplicated + paced.Consumed.Duplicated,
        Reordered = moved.Consumed.Reordered + paced.Consumed.Reordered,
        Damaged = moved.Consumed.Damaged + paced.Consumed.Damaged,
    };
}
