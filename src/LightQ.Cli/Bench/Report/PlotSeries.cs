namespace LightQ.Cli.Bench.Report;

/// <summary>Named values that belong together: a line's points, or the bars of one group.</summary>
internal sealed record PlotSeries(string Name, IReadOnlyList<(string Name, double Value)> Points);
