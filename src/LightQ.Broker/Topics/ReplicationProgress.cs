namespace LightQ.Broker.Topics;

/// <summary>How far a topic has come on its way to replicas.</summary>
/// <param name="IsDone">Whether it has them.</param>
/// <param name="CopiedBytes">Bytes of messages that are in its streams already; 0 when it is done.</param>
/// <param name="TotalBytes">About how many there are; 0 when it is done.</param>
/// <param name="HasBegun">Whether the call has begun it.</param>
public sealed record ReplicationProgress(bool IsDone, long CopiedBytes, long TotalBytes, bool HasBegun);
