using LightQ.Bench;

namespace LightQ.Cli.Bench.Report;

/// <summary>Everything a bench found out.</summary>
internal sealed record BenchReport<TResult>
    where TResult : BenchResult
{
    public required string Scenario { get; init; }

    /// <summary>What the figures must be read with: fewer pairs than usual, stamps of the actual sending.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];

    public required BenchMachine Machine { get; init; }

    public required IReadOnlyList<TResult> Results { get; init; }
}
