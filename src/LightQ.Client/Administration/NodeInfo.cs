namespace LightQ.Client.Administration;

/// <summary>A broker of a cluster.</summary>
/// <param name="Name">Its name, unique in the cluster.</param>
/// <param name="DataAddress"><c>host:port</c> for clients, as the node advertises it.</param>
/// <param name="ControlAddress"><c>host:port</c> of its control plane, likewise.</param>
/// <param name="State">What it does.</param>
/// <param name="Leads">Partitions with replicas that it leads.</param>
/// <param name="Version">The broker's version.</param>
/// <param name="Silence">Since the node that answered has heard of it.</param>
public sealed record NodeInfo(
    string Name,
    string DataAddress,
    string ControlAddress,
    NodeState State,
    int Leads,
    string Version,
    TimeSpan Silence
);
