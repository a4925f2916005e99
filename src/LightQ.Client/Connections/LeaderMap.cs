using LightQ.Protocol.Control;

namespace LightQ.Client.Connections;

/// <summary>The leaders of partitions and the silent nodes, as one node of the cluster sees them.</summary>
internal sealed class LeaderMap
{
    private readonly Dictionary<(string Topic, int Partition), KnownLeader> _leaders = [];
    private readonly int _nodes;
    private readonly int _silentNodes;

    public LeaderMap(ClusterMetadata metadata)
    {
        var addresses = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (ClusterNode node in metadata.Nodes)
        {
            addresses[node.Name] = node.DataAddress;
            _nodes++;
            if (node.State != NodeState.Silent)
                continue;
            _silentNodes++;
            if (HostPort.TryParse(node.DataAddress, out string host, out int port))
                Silent.Add(HostPort.Format(host, port));
        }
        foreach (PartitionLeader partition in metadata.Partitions)
        {
            if (partition.Replicas == 1)
                Alone.Add(partition.Topic);
            if (
                addresses.TryGetValue(partition.Node, out string? address)
                && HostPort.TryParse(address, out string host, out int port)
            )
            {
                _leaders[(partition.Topic, (int)partition.Partition)] = new KnownLeader(partition.Epoch, host, port);
            }
        }
    }

    /// <summary>The addresses of the nodes that the one that tells has not heard of for too long.</summary>
    public HashSet<string> Silent { get; } = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>The topics without replicas: nobody else ever leads them.</summary>
    public HashSet<string> Alone { get; } = new(StringComparer.Ordinal);

    /// <summary>Whether it hears most nodes, so that the silent ones are not silent to it alone.</summary>
    public bool HearsMost => 2 * _silentNodes < _nodes;

    /// <summary>Whether it hears none of several others: it is cut off itself, as far as a client can tell.</summary>
    public bool HearsNobody => _nodes > 2 && _silentNodes >= _nodes - 1;

    /// <summary>Finds a partition's leader; false when there is none, or nothing is known of it.</summary>
    public bool TryFind(string topic, int partition, out KnownLeader leader) =>
        _leaders.TryGetValue((topic, partition), out leader);
}
