using LightQ.Broker.Topics;

namespace LightQ.Broker.Cluster;

/// <summary>
/// Gets reports of who is in the cluster and who leads what, on the threads that meet it. Must not block, and must not
/// throw.
/// </summary>
internal interface IClusterEvents
{
    /// <summary>Another node is there.</summary>
    void OnJoined(Member member);

    /// <summary>Another node has said that it leaves, or has been silent for too long.</summary>
    void OnGone(Member member);

    /// <summary>Another process has this node's name; told once for each.</summary>
    /// <param name="node">The name.</param>
    /// <param name="isKept">Whether this process keeps it; else it claims nothing.</param>
    void OnNameTaken(string node, bool isKept);

    /// <summary>This node leads a partition from now on.</summary>
    void OnLeads(Partition partition, uint epoch);

    /// <summary>This node has handed a partition over.</summary>
    void OnHandedOver(Partition partition, string to, TimeSpan took);
}
