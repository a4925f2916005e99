using LightQ.Cli.Bench.Fanout;
using LightQ.Cli.Bench.Scale;

namespace LightQ.Cli.Bench.Report;

/// <summary>One line of a bench's table: the product beside one yardstick. What does not apply is absent.</summary>
internal sealed record BenchResult
{
    public int Size { get; init; }

    public required string Kind { get; init; }

    public required string Ack { get; init; }

    public required string Api { get; init; }

    public long Messages { get; init; }

    /// <summary>The median of the product's runs.</summary>
    public double? MessagesPerSecond { get; init; }

    public required string Yardstick { get; init; }

    public double? YardstickMessagesPerSecond { get; init; }

    /// <summary>What a reference document prints, where <see cref="YardstickMessagesPerSecond"/> is what its timestamps give.</summary>
    public double? PublishedMessagesPerSecond { get; init; }

    /// <summary>The product's figure divided by the yardstick's: of throughput, or of the median latency.</summary>
    public double Ratio { get; init; }

    /// <summary>The same for the 99th percentile of latency; beside <c>line</c> that percentile divided by the line's median, and both are medians of the runs' ratios.</summary>
    public double? RatioP99 { get; init; }

    public int Pairs { get; init; }

    public long Lost { get; init; }

    public long Duplicated { get; init; }

    public long Reordered { get; init; }

    /// <summary>Messages whose content was not what was sent.</summary>
    public long Damaged { get; init; }

    /// <summary>What the yardstick lost, repeated, reordered or damaged.</summary>
    public long YardstickFaults { get; init; }

    /// <summary>Messages a second that were asked for, in a latency bench.</summary>
    public double? Rate { get; init; }

    public LatencyFigures? LatencyUs { get; init; }

    public LatencyFigures? YardstickLatencyUs { get; init; }

    /// <summary>The latency of each run, in an in-process bench.</summary>
    public IReadOnlyList<LatencyFigures>? LatencyRunsUs { get; init; }

    /// <summary>That of the yardstick before and behind each run.</summary>
    public IReadOnlyList<LatencyFigures>? YardstickLatencyRunsUs { get; init; }

    /// <summary>Processes that an in-process bench used: 1 or 2.</summary>
    public int? Processes { get; init; }

    /// <summary>CPU seconds of the broker, per run.</summary>
    public double? BrokerCpuSeconds { get; init; }

    public long? BrokerPeakRssBytes { get; init; }

    /// <summary>Topics of a startup bench, and bytes in them.</summary>
    public int? Topics { get; init; }

    public long? BacklogBytes { get; init; }

    /// <summary>From the start of the process until it is ready, in milliseconds; the median of <see cref="ReadyRunsMs"/>.</summary>
    public double? ReadyMs { get; init; }

    public double? YardstickReadyMs { get; init; }

    public IReadOnlyList<double>? ReadyRunsMs { get; init; }

    public IReadOnlyList<double>? YardstickReadyRunsMs { get; init; }

    /// <summary>Resident memory when it was ready; <see cref="BrokerPeakRssBytes"/> is the largest on the way there.</summary>
    public long? BrokerReadyRssBytes { get; init; }

    /// <summary>The rest of a fan-out's figures.</summary>
    public FanoutFigures? Fanout { get; init; }

    /// <summary>What was few, what was many, and how they compare, in a scale bench.</summary>
    public ScaleFigures? Scale { get; init; }

    /// <summary>Messages a second of each run.</summary>
    public IReadOnlyList<double>? Runs { get; init; }

    public IReadOnlyList<double>? YardstickRuns { get; init; }

    /// <summary>Messages that did not arrive once, in order and undamaged.</summary>
    [System.Text.Json.Serialization.JsonIgnore]
    public long Faults => Lost + Duplicated + Reordered + Damaged;

    /// <summary>Whether every message arrived once, in order and undamaged, and was settled if it was to be.</summary>
    [System.Text.Json.Serialization.JsonIgnore]
    public bool IsSound => Faults == 0 && Fanout is not { IsSettled: false } and not { LossPercent: not 0 };
}
