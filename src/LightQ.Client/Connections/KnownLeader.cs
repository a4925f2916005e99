namespace LightQ.Client.Connections;

/// <summary>Who leads a partition, as one node of the cluster sees it.</summary>
/// <param name="Epoch">Grows with each leader; 0 for a topic without replicas.</param>
/// <param name="Host">Its host, as it is advertised to clients.</param>
/// <param name="Port">The port of its data plane.</param>
internal readonly record struct KnownLeader(uint Epoch, string Host, int Port);
