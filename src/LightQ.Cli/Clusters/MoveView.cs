namespace LightQ.Cli.Clusters;

/// <summary>A partition that was moved.</summary>
internal sealed record MoveView(string Topic, int Partition, string Node, long Epoch);
