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

    /// <summary>
    /// Writes the replicated logs of a topic's partitions anew that have lost something, each from the longest copy of
    /// the brokers. Needs the right Admin.
    /// </summary>
    /// <param name="topic">The topic, which has replicas.</param>
    /// <param name="planOnly">Whether to say only what would be done.</param>
    /// <param name="cancellationToken">Ends the wait; what has begun goes on.</param>
    /// <returns>The partitions that have lost something; none when all are whole.</returns>
    /// <exception cref="LightQException">
    /// A right is missing, the topic is unknown or has no replicas, or no node can be reached.
    /// </exception>
    public async Task<IReadOnlyList<PartitionRepairInfo>> RepairTopicAsync(
        string topic,
        bool planOnly = false,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentException.ThrowIfNullOrEmpty(topic);
        RepairTopicResponse response = await _calls
            .RepairTopicAsync(
                new RepairTopicRequest { Topic = topic, PlanOnly = planOnly },
                cancellationToken: cancellationToken
            )
            .ConfigureAwait(false);
        return
        [
            .. response.Partitions.Select(p => new PartitionRepairInfo(
                (int)p.Partition,
                p.Damage,
                NullIfEmpty(p.Node),
                p.FirstOffset,
                p.EndOffset,
                p.Done,
                p.Failure
            )),
        ];
    }

    /// <summary>
    /// Writes the cluster's catalog anew from what the node that answers knows of it, if it has lost something. Needs
    /// the right Admin.
    /// </summary>
    /// <param name="planOnly">Whether to say only what would be done.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// A right is missing, the node has no cluster, or it or the engine cannot be reached.
    /// </exception>
    public async Task<CatalogRepairInfo> RepairCatalogAsync(
        bool planOnly = false,
        CancellationToken cancellationToken = default
    )
    {
        RepairCatalogResponse response = await _calls
            .RepairCatalogAsync(new RepairCatalogRequest { PlanOnly = planOnly }, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new CatalogRepairInfo(
            NullIfEmpty(response.Damage),
            (int)response.Topics,
            (int)response.Users,
            response.Done
        );
    }

    /// <summary>Removes streams of the engine that belong to no topic. Needs the right Admin.</summary>
    /// <param name="names">Their names, as the condition <c>unknown-streams</c> has them.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// A right is missing, a stream is of a topic, or the node or the engine cannot be reached: then none is removed,
    /// or only some when the engine fails.
    /// </exception>
    public async Task RemoveStreamsAsync(
        IReadOnlyCollection<string> names,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(names);
        await _calls
            .RemoveStreamsAsync(new RemoveStreamsRequest { Names = { names } }, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
    }

    /// <summary>
    /// Spreads the partitions evenly over the brokers, those as well that were moved by <see cref="MoveAsync"/>, which
    /// stay there no longer then. What nobody has moved is spread by itself. Needs the right Admin.
    /// </summary>
    /// <param name="planOnly">Whether to say only what would move.</param>
    /// <param name="cancellationToken">Ends the wait; partitions may move nevertheless.</param>
    /// <returns>What moves. Returns when all have moved, or after half a minute.</returns>
    /// <exception cref="LightQException">
    /// A right is missing, the broker has no cluster, or no node can be reached.
    /// </exception>
    public async Task<BalanceResult> BalanceAsync(bool planOnly = false, CancellationToken cancellationToken = default)
    {
        BalancePartitionsResponse answer = await _calls
            .BalancePartitionsAsync(
                new BalancePartitionsRequest { PlanOnly = planOnly },
                cancellationToken: cancellationToken
            )
            .ConfigureAwait(false);
        return new BalanceResult(
            [.. answer.Moves.Select(m => new PartitionMoveInfo(m.Topic, (int)m.Partition, m.From, m.To))],
            (int)answer.Left
        );
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
        )
        {
            IsListening = metadata.Listening,
            Conditions =
            [
                .. metadata.Conditions.Select(condition => new ClusterConditionInfo(
                    condition.Node,
                    condition.Kind,
                    condition.Subject,
                    condition.Detail,
                    condition.Remedy,
                    condition.Failed
                )),
            ],
        };

    private static string? NullIfEmpty(string text) => text.Length == 0 ? null : text;
}
