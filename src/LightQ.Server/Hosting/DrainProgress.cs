namespace LightQ.Server.Hosting;

/// <summary>What is still under way in a drain.</summary>
/// <param name="Connections">Connections, and calls that carry messages.</param>
/// <param name="BusyProducers">Producers that wait for acks.</param>
/// <param name="Held">Messages that members of groups hold and have not settled.</param>
internal sealed record DrainProgress(int Connections, int BusyProducers, long Held);
