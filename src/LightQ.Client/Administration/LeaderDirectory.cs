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
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Task<ClusterMetadata?>> _asking = new(StringComparer.Ordinal);
    private int _turn;

    public async Task<string?> FindAsync(string topic, int? partition, uint newest, CancellationToken cancellationToken)
    {
        Task<ClusterMetadata?> asking;
        lock (_gate)
        {
            if (!_asking.TryGetValue(topic, out asking!))
                _asking[topic] = asking = Task.Run(() => AskAsync(topic, cancellationToken), CancellationToken.None);
        }
        return await asking.ConfigureAwait(false) is { } metadata ? Find(metadata, topic, partition, newest) : null;
    }

    public async IAsyncEnumerable<LeaderMap> WatchAsync(
        int broker,
        IReadOnlyCollection<string> topics,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        using AsyncServerStreamingCall<ClusterMetadata> call = new Cluster.ClusterClient(
            control.Nodes[broker].WatchCalls
        ).WatchMetadata(new GetMetadataRequest { Topics = { topics } }, cancellationToken: cancellationToken);
        await foreach (
            ClusterMetadata metadata in call.ResponseStream.ReadAllAsync(cancellationToken).ConfigureAwait(false)
        )
        {
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

    private async Task<ClusterMetadata?> AskAsync(string topic, CancellationToken cancellationToken)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        late.CancelAfter(Patience);
        try
        {
            for (int asked = 0; asked < control.Nodes.Count; asked++)
            {
                uint turn = (uint)Interlocked.Increment(ref _turn);
                ControlNode node = control.Nodes[(int)(turn % (uint)control.Nodes.Count)];
                try
                {
                    var request = new GetMetadataRequest { Topics = { topic } };
                    return await new Cluster.ClusterClient(node.Calls)
                        .GetMetadataAsync(request, cancellationToken: late.Token)
                        .ConfigureAwait(false);
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
