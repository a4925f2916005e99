using System.Text.Json.Serialization;
using LightQ.Bench.Figures;

namespace LightQ.Cli.Reference;

/// <summary>
/// What a producer or a consumer saw of one topic's messages. Times are microseconds of the machine's monotonic clock.
/// </summary>
internal sealed record TransferResult
{
    private const double BytesPerMb = 1024 * 1024;

    public required string Topic { get; init; }

    public long Messages { get; init; }

    public long Bytes { get; init; }

    /// <summary>When the producer began the first message's batch.</summary>
    public long FirstSentUs { get; init; }

    /// <summary>When the first message came; absent of a producer.</summary>
    public long? FirstReceivedUs { get; init; }

    /// <summary>When the last message came; of a producer, when it was acknowledged.</summary>
    public long EndUs { get; init; }

    /// <summary>From the first message sent to the end.</summary>
    public double MessagesPerSecond => Math.Round(Messages / Seconds, 2);

    /// <summary>The same in MB, which are 2^20 bytes.</summary>
    public double MbPerSecond => Math.Round(Bytes / Seconds / BytesPerMb, 4);

    /// <summary>Messages that lay there from before and were not counted; of a consumer.</summary>
    public long? Skipped { get; init; }

    public long? Lost { get; init; }

    public long? Duplicated { get; init; }

    public long? Reordered { get; init; }

    /// <summary>Messages whose content was not what was sent.</summary>
    public long? Damaged { get; init; }

    /// <summary>From when a message's batch was begun until it was received.</summary>
    public LatencyFigures? LatencyUs { get; init; }

    /// <summary>What the wall clock is ahead of the monotonic one, in microseconds.</summary>
    [JsonIgnore]
    public long WallClockUs { get; init; }

    [JsonIgnore]
    public bool IsSound => (Lost ?? 0) + (Duplicated ?? 0) + (Reordered ?? 0) + (Damaged ?? 0) == 0;

    private double Seconds => Math.Max(1, EndUs - FirstSentUs) / 1e6;
}
