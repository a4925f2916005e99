namespace LightQ.Cli.Clusters;

/// <summary>How far the drain of a node is.</summary>
internal sealed record DrainView(string Node, int PartitionsLeft, long EntriesLeft);
