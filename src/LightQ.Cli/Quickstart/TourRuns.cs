using LightQ.Bench;
using LightQ.Bench.Figures;
using LightQ.Bench.Sessions;

namespace LightQ.Cli.Quickstart;

/// <summary>What the runs of one shape of load gave.</summary>
/// <param name="Shape">The load.</param>
/// <param name="WarmUp">The run that is checked and not timed.</param>
/// <param name="Measured">The runs that are timed.</param>
internal sealed record TourRuns(LoadShape Shape, RunOutcome WarmUp, IReadOnlyList<RunOutcome> Measured)
{
    /// <summary>The median of the measured runs.</summary>
    public double MessagesPerSecond => Median.Of(Measured.Select(m => m.MessagesPerSecond));

    /// <summary>Every run: each was checked.</summary>
    public IEnumerable<RunOutcome> All => [WarmUp, .. Measured];
}
