namespace LightQ.Broker.Cluster;

/// <summary>A node of the cluster, as this node knows it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="DataAddress"><c>host:port</c> of its data plane.</param>
/// <param name="ControlAddress"><c>host:port</c> of its control plane.</param>
/// <param name="Version">The broker's version.</param>
/// <param name="State">What it said of itself.</param>
/// <param name="IsLive">Whether it has been heard of lately.</param>
/// <param name="Silence">Since when it has not been heard of.</param>
/// <param name="Leads">Partitions that it leads.</param>
/// <param name="IsUnfit">Whether others are to lead what they can, since it cannot serve it now.</param>
internal sealed record Member(
    string Name,
    string DataAddress,
    string ControlAddress,
    string Version,
    MemberState State,
    bool IsLive,
    TimeSpan Silence,
    int Leads,
    bool IsUnfit
);
