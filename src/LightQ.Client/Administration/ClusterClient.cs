using System.Runtime.CompilerServices;
using Grpc.Core;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>
/// Tells which nodes a cluster has and which partitions they lead, and moves these, over the control plane.
/// Thread-safe.
/// </summary>
/// <remarks>Any node answers. A broker without a cluster answers as its only node.</remarks>
public sealed class ClusterClient
{
    private readonly Protocol.Control.Cluster.ClusterClient _calls;

    internal ClusterClient(ControlChannel channel) =>
        _calls = new Protocol.Control.Cluster.ClusterClient(channel.Calls);

    /// <summary>What the node that answers knows now.</summary>
    /// <param name="topics">The topics whose partitions are listed; null for all that the caller may see.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">No node can be reached, or it knows no clusters.</exception>
    public async Task<ClusterInfo> GetAsync(
        IReadOnlyCollection<string>? topics = null,
        CancellationToken cancellationToken = default
    ) =>
        Map(await _calls.GetMetadataAsync(Request(topics), cancellationToken: cancellationToken).ConfigureAwait(false));

    /// <summary>The same at once, and again after each change, at most five times a second.</summary>
    /// <param name="topics">The topics whose partitions are listed; null for all that the caller may see.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="LightQException">
    /// From the enumeration: the node cannot be reached, or the connection to it was lost.
    /// </exception>
    public async IAsyncEnumerable<ClusterInfo> WatchAsync(
        IReadOnlyCollection<string>? topics = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        using AsyncServerStreamingCall<ClusterMetadata> call = _calls.WatchMetadata(
            Request(topics),
            cancellationToken: cancellationToken
        );
        await foreach (
            ClusterMetadata metadata in call.ResponseStream.ReadAllAsync(cancellationToken).ConfigureAwait(false)
        )
        {
            yield return Map(metadata);
        }
    }

    /// <summary>
    /// Hands every partition of a node over to others, one at a time. The node gets no new ones until it starts again;
    /// clients go on at the others by themselves. Needs the right Admin.
    /// </summary>
    /// <param name="node">The node's name.</param>
    /// <param name="cancellationToken">Ends the enumeration; the node drains nevertheless.</param>
    /// <returns>What is left: at once, and whenever it has changed. Last no partitions.</returns>
    /// <exception cref="LightQException">
    /// From the enumeration: a right is missing, there is no such node, no other node can take over, or none can be
    /// reached.
    /// </exception>
    public async IAsyncEnumerable<DrainProgress> DrainAsync(
        string node,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        ArgumentException.ThrowIfNullOrEmpty(node);
        using AsyncServerStreamingCall<DrainNodeProgress> call = _calls.DrainNode(
            new DrainNodeRequest { Node = node },
            cancellationToken: cancellationToken
        );
        await foreach (
            DrainNodeProgress progress in call.ResponseStream.ReadAllAsync(cancellationToken).ConfigureAwait(false)
        )
        {
            yield return new DrainProgress((int)progress.PartitionsLeft, (long)progress.EntriesLeft);
        }
    }

    /// <summary>
    /// Hands a partition over to a node. It leads the partition when this returns, until it fails or drains. Needs the
    /// right Admin.
    /// </summary>
    /// <param name="topic">The topic, which has replicas.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="node">The node that is to lead it.</param>
    /// <param name="cancellationToken">Ends the wait; the partition may move nevertheless.</param>
    /// <returns>The epoch of the new leader.</returns>
    /// <exception cref="LightQException">
    /// A right is missing, the topic has no replicas, the partition or the node is unknown, the node is silent or
    /// drains, or no node can be reached.
    /// </exception>
    public async Task<long> MoveAsync(
        string topic,
        int partition,
        string node,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentException.ThrowIfNullOrEmpty(topic);
        ArgumentOutOfRangeException.ThrowIfNegative(partition);
        ArgumentException.ThrowIfNullOrEmpty(node);
        var request = new MovePartitionRequest
        {
            Topic = topic,
            Partition = (uint)partition,
            Node = node,
        };
        return (
            await _calls.MovePartitionAsync(request, cancellationToken: cancellationToken).ConfigureAwait(false)
        ).Epoch;
    }

    private static GetMetadataRequest Request(IReadOnlyCollection<string>? topics) =>
        new() { Topics = { topics ?? [] } };

    private static ClusterInfo Map(ClusterMetadata metadata) =>
        new(
            NullIfEmpty(metadata.Cluster),
            metadata.Node,
            NullIfEmpty(metadata.Engine),
            [
                .. metadata.Nodes.Select(node => new NodeInfo(
                    node.Name,
                    node.DataAddress,
                    node.ControlAddress,
                    (NodeState)node.State,
                    (int)node.Leads,
                    node.Version,
                    node.Silence?.ToTimeSpan() ?? TimeSpan.Zero
                )),
            ],
            [
                .. metadata.Partitions.Select(partition => new PartitionLeaderInfo(
                    partition.Topic,
                    (int)partition.Partition,
                    NullIfEmpty(partition.Node),
                    partition.Epoch,
                    (int)partition.Replicas
                )),
            ]
        );

    private static string? NullIfEmpty(string text) => text.Length == 0 ? null : text;
}
