namespace LightQ.ClusterTests.Nats;

/// <summary>What one server itself has of a stream.</summary>
/// <param name="Server">The server's name.</param>
/// <param name="Stream">The stream's.</param>
/// <param name="First">The first sequence that it has.</param>
/// <param name="Last">The last one.</param>
/// <param name="Messages">How many it has.</param>
internal readonly record struct ReplicaState(string Server, string Stream, ulong First, ulong Last, ulong Messages);
