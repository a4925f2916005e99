using LightQ.Bench;
using LightQ.Bench.Figures;
using LightQ.Bench.Sessions;

namespace LightQ.Cli.Quickstart;

/// <summary>One line of the table.</summary>
internal sealed record QuickstartRun
{
    private const double BytesPerMiB = 1024 * 1024;

    public required string Kind { get; init; }

    public int Size { get; init; }

    /// <summary>Messages of each run.</summary>
    public long Messages { get; init; }

    /// <summary>The median of the measured runs.</summary>
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

    /// <param name="settings">What the runs were told.</param>
    /// <param name="messages">Messages of each run.</param>
    /// <param name="moved">The runs as fast as they went.</param>
    /// <param name="paced">The runs at a rate, of which the last is the one that is measured.</param>
    public static QuickstartRun Of(
        BenchSettings settings,
        long messages,
        TourRuns moved,
        IReadOnlyList<RunOutcome> paced
    )
    {
        RunOutcome[] all = [.. moved.All, .. paced];
        LatencyFigures latency = paced[^1].Latency!;
        return new QuickstartRun
        {
            Kind = settings.KindName,
            Size = moved.Shape.Size,
            Messages = messages,
            MessagesPerSecond = Math.Round(moved.MessagesPerSecond),
            MibPerSecond = Math.Round(moved.MessagesPerSecond * moved.Shape.Size / BytesPerMiB, 1),
            LatencyP50Us = Math.Round(latency.P50, 1),
            LatencyP99Us = Math.Round(latency.P99, 1),
            Durability = settings.AckName,
            Lost = all.Sum(o => o.Consumed.Lost),
            Duplicated = all.Sum(o => o.Consumed.Duplicated),
            Reordered = all.Sum(o => o.Consumed.Reordered),
            Damaged = all.Sum(o => o.Consumed.Damaged),
        };
    }
}
