namespace LightQ.Cli.Clusters;

/// <summary>A cluster that was begun.</summary>
internal sealed record InitView(string Cluster, Guid Id, IReadOnlyList<string> UnknownStreams);
