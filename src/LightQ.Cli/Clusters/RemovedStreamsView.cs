namespace LightQ.Cli.Clusters;

/// <summary>Streams of the engine that were removed.</summary>
internal sealed record RemovedStreamsView(IReadOnlyList<string> Removed);
