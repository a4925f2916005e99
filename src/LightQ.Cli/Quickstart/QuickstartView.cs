namespace LightQ.Cli.Quickstart;

/// <summary>What the quickstart found.</summary>
internal sealed record QuickstartView(IReadOnlyList<QuickstartRun> Runs, IReadOnlyList<string> Next);
