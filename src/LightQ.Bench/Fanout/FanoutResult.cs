using System.Text.Json.Serialization;
using LightQ.Bench.Figures;

namespace LightQ.Bench.Fanout;

/// <summary>One run of a fan-out beside the document's; the ratio is that of the mean latencies.</summary>
internal sealed record FanoutResult : BenchResult
{
    /// <summary>Measured deliveries a second.</summary>
    public double MessagesPerSecond { get; init; }

    public required LatencyFigures LatencyUs { get; init; }

    /// <summary>CPU seconds of the broker; null when it is not a child of this process.</summary>
    public double? BrokerCpuSeconds { get; init; }

    /// <summary>The broker's largest resident memory; null when it is not a child of this process.</summary>
    public long? BrokerPeakRssBytes { get; init; }

    /// <summary>What the document has figures of, too.</summary>
    public required FanoutFigures Fanout { get; init; }

    /// <inheritdoc/>
    [JsonIgnore]
    public override bool IsSound => base.IsSound && Fanout is { IsSettled: true, LossPercent: 0 };
}
