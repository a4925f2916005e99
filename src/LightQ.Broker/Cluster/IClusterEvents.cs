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

    /// <summary>A node that is to take a partition over from this one reads what its journal lacks first.</summary>
    /// <param name="partition">The partition.</param>
    /// <param name="node">The node.</param>
    /// <param name="left">The entries of the stream that it has yet to read.</param>
    void OnPrepares(Partition partition, string node, long left);

    /// <summary>A node does not get a partition that it was to take over from this one.</summary>
    void OnPassedOver(Partition partition, string node, string reason);

    /// <summary>
    /// This node hands a partition over to a node that has not read all of it: producers wait until it has.
    /// </summary>
    void OnUnprepared(Partition partition, string node, string reason);

    /// <summary>
    /// What this node remembers of a partition's stream, beside its journal, is not what the stream has. It is
    /// forgotten.
    /// </summary>
    void OnWrongMark(Partition partition, ulong sequence);

    /// <summary>Something is wrong with the cluster, or no longer.</summary>
    void OnCondition(ClusterCondition condition, bool isOver) { }

    /// <summary>Something was removed that a node held, or the engine: never without this.</summary>
    /// <param name="what">What, such as a stream or the copy of a partition.</param>
    /// <param name="why">Why.</param>
    void OnRemoved(string what, string why) { }

    /// <summary>This node has handed a partition over.</summary>
    void OnHandedOver(Partition partition, string to, TimeSpan took);
}
