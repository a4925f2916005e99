namespace LightQ.Client.Administration;

/// <summary>How far a topic has come on its way to replicas.</summary>
/// <param name="IsDone">Whether it has them.</param>
/// <param name="CopiedBytes">Bytes of messages that are copied; 0 when it is done.</param>
/// <param name="TotalBytes">About how many bytes there are; 0 when it is done.</param>
public sealed record TopicReplication(bool IsDone, long CopiedBytes, long TotalBytes);
