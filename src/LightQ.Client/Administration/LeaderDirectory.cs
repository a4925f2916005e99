using System.Runtime.CompilerServices;
using Grpc.Core;
using LightQ.Client.Connections;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>Asks the brokers' control planes for the leaders of partitions.</summary>
/// <remarks>
/// Thread-safe. Each question begins with the next broker: one that is cut off from the others knows old leaders.
/// Questions for the same topic at the same time are one.
/// </remarks>
internal sealed class LeaderDirectory(ControlChannel control) : ILeaderDirectory
{
    /// <summary>No topic has that name: the answer names the nodes alone.</summary>
    private const string NoTopic = "";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Task<ClusterMetadata?>> _asking = new(StringComparer.Ordinal);
    private int _turn;

    public async Task<string?> FindAsync(
        string topic,
        int? partition,
        uint newest,
        CancellationToken cancellationToken
    ) =>
        await AskOnceAsync(topic, cancellationToken).ConfigureAwait(false) is { } metadata
            ? Find(metadata, topic, partition, newest)
            : null;

    public async Task<bool> LearnAsync(CancellationToken cancellationToken) =>
        await AskOnceAsync(NoTopic, cancellationToken).ConfigureAwait(false) is not null;

    public async IAsyncEnumerable<LeaderMap> WatchAsync(
        int broker,
        IReadOnlyCollection<string> topics,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        using AsyncServerStreamingCall<ClusterMetadata> call = new Cluster.ClusterClient(
            control.NodeAt(broker).WatchCalls
        ).WatchMetadata(new GetMetadataRequest { Topics = { topics } }, cancellationToken: cancellationToken);
        await foreach (
            ClusterMetadata metadata in call.ResponseStream.ReadAllAsync(cancellationToken).ConfigureAwait(false)
        )
        {
            Learn(metadata);
            yield return new LeaderMap(metadata);
        }
    }

    /// <summary>Where a partition's leader is, by what a broker says.</summary>
    internal static string? Find(ClusterMetadata metadata, string topic, int? partition, uint newest)
    {
        PartitionLeader? leader = metadata.Partitions.FirstOrDefault(p =>
            p.Topic == topic
            && (partition is null || p.Partition == partition)
            && p.Node.Length != 0
            && (p.Epoch == 0 || p.Epoch >= newest)
        );
        string? address = leader is null
            ? null
            : metadata.Nodes.FirstOrDefault(n => n.Name == leader.Node)?.DataAddress;
        return HostPort.TryParse(address ?? "", out _, out _) ? address : null;
    }

    private void Learn(ClusterMetadata metadata) =>
        control.Brokers.Learn([
            .. metadata.Nodes.Select(n =>
                (n.DataAddress, n.ControlAddress, n.State == Protocol.Control.NodeState.Silent)
            ),
        ]);

    private Task<ClusterMetadata?> AskOnceAsync(string topic, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (!_asking.TryGetValue(topic, out Task<ClusterMetadata?>? asking))
                _asking[topic] = asking = Task.Run(() => AskAsync(topic, cancellationToken), CancellationToken.None);
            return asking;
        }
    }

    private async Task<ClusterMetadata?> AskAsync(string topic, CancellationToken cancellationToken)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        late.CancelAfter(Patience);
        try
        {
            for (int asked = 0; asked < control.Brokers.Count; asked++)
            {
                uint turn = (uint)Interlocked.Increment(ref _turn);
                ControlNode node = control.NodeAt((int)(turn % (uint)control.Brokers.Count));
                try
                {
                    var request = new GetMetadataRequest { Topics = { topic } };
                    ClusterMetadata metadata = await new Cluster.ClusterClient(node.Calls)
                        .GetMetadataAsync(request, cancellationToken: late.Token)
                        .ConfigureAwait(false);
                    Learn(metadata);
                    return metadata;
                }
                catch (LightQException)
                {
                    // It does not answer, does not serve the call, or does not let this client ask: the next may.
                }
            }
            return null;
        }
        catch (OperationCanceledException)
        {
            return null;
        }
        finally
        {
            lock (_gate)
                _asking.Remove(topic);
        }
    }
}
