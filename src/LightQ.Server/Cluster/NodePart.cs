namespace LightQ.Server.Cluster;

/// <summary>What one node has answered.</summary>
/// <param name="Node">The node.</param>
/// <param name="Partitions">The partitions that it was asked for.</param>
/// <param name="Response">What it says of these.</param>
internal sealed record NodePart<TResponse>(string Node, IReadOnlyList<uint> Partitions, TResponse Response);
