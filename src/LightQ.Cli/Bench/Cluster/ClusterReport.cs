using LightQ.Bench;
using LightQ.Bench.Figures;

namespace LightQ.Cli.Bench.Cluster;

/// <summary>The report for programs: medians of all runs. A ratio is LightQ's figure over the engine's.</summary>
internal sealed record ClusterReport
{
    private const double MiB = 1024 * 1024;

    public string Scenario { get; } = "cluster";

    public required BenchMachine Machine { get; init; }

    public required string Engine { get; init; }

    public required int Partitions { get; init; }

    public required int BatchBytes { get; init; }

    public required int Runs { get; init; }

    public required double LightqMibPerSecond { get; init; }

    public required double RunBytes { get; init; }

    public required double EngineOneAtATimeMibPerSecond { get; init; }

    public required double EnginePipelinedMibPerSecond { get; init; }

    public required double RatioOneAtATime { get; init; }

    public required double RatioPipelined { get; init; }

    public required LatencyView LightqLatencyMs { get; init; }

    public required LatencyView EngineLatencyMs { get; init; }

    public required int InFlight { get; init; }

    public required IReadOnlyList<MessageView> Messages { get; init; }

    public static ClusterReport Of(string engine, ClusterBenchSettings settings, IReadOnlyList<ClusterRound> rounds)
    {
        return new ClusterReport
        {
            Machine = BenchMachine.Current(),
            Engine = engine,
            Partitions = settings.Partitions,
            BatchBytes = settings.BatchBytes,
            Runs = rounds.Count,
            LightqMibPerSecond = Middle(r => r.LightQ / MiB),
            RunBytes = Math.Round(Middle(r => r.RunBytes)),
            EngineOneAtATimeMibPerSecond = Middle(r => r.OneAtATime / MiB),
            EnginePipelinedMibPerSecond = Middle(r => r.Pipelined / MiB),
            RatioOneAtATime = Middle(r => r.LightQ / r.OneAtATime),
            RatioPipelined = Middle(r => r.LightQ / r.Pipelined),
            LightqLatencyMs = new(
                Middle(r => r.LightQMedian.TotalMilliseconds),
                Middle(r => r.LightQLate.TotalMilliseconds)
            ),
            EngineLatencyMs = new(
                Middle(r => r.EngineMedian.TotalMilliseconds),
                Middle(r => r.EngineLate.TotalMilliseconds)
            ),
            InFlight = settings.InFlight,
            Messages =
            [
                .. settings.MessageSizes.Select(
                    (size, i) =>
                        new MessageView(
                            size,
                            Math.Round(Middle(r => r.Messages[i].LightQ)),
                            Math.Round(Middle(r => r.Messages[i].JetStream)),
                            Middle(r => r.Messages[i].LightQ / r.Messages[i].JetStream)
                        )
                ),
            ],
        };

        double Middle(Func<ClusterRound, double> figure) => Math.Round(Median.Of(rounds.Select(figure)), 3);
    }

    internal sealed record LatencyView(double P50, double P99);

    internal sealed record MessageView(int Bytes, double LightqPerSecond, double JetstreamPerSecond, double Ratio);
}
