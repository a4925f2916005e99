namespace LightQ.Broker.Cluster;

/// <summary>
/// Spreads partitions over nodes: those of each topic evenly, and all of them evenly, with as few moves as that takes.
/// The same on every node that has heard the same.
/// </summary>
/// <remarks>
/// A partition stays where it is unless its node has two more than another one, of its topic or of all. What an
/// operator has moved stays, and does not count: others need not make up for it.
/// </remarks>
internal sealed class Balance
{
    private readonly string[] _nodes;
    private readonly PlacedPartition[] _partitions;
    private readonly Dictionary<PartitionId, string> _places = [];
    private readonly Dictionary<string, int> _loads;
    private readonly Dictionary<(Guid Topic, string Node), int> _topicLoads = [];

    private Balance(IEnumerable<PlacedPartition> partitions, IEnumerable<string> nodes)
    {
        _nodes = [.. nodes.Order(StringComparer.Ordinal)];
        _partitions = [.. partitions.OrderBy(static p => p.Id.Topic).ThenBy(static p => p.Id.Partition)];
        _loads = _nodes.ToDictionary(static node => node, static _ => 0, StringComparer.Ordinal);
    }

    /// <summary>The node that is to lead each partition; one that no node can serve is left out.</summary>
    /// <param name="partitions">The partitions.</param>
    /// <param name="nodes">The nodes that can serve.</param>
    public static IReadOnlyDictionary<PartitionId, string> Of(
        IEnumerable<PlacedPartition> partitions,
        IEnumerable<string> nodes
    )
    {
        var balance = new Balance(partitions, nodes);
        balance.Stay();
        balance.PlaceOthers();
        foreach (IGrouping<Guid, PlacedPartition> topic in balance._partitions.GroupBy(static p => p.Id.Topic))
            balance.Even(topic.Key, [.. topic]);
        balance.EvenAll();
        return balance._places;
    }

    private void Stay()
    {
        foreach (PlacedPartition partition in _partitions)
        {
            if (_loads.ContainsKey(partition.Holder) && !partition.Unable.Contains(partition.Holder))
                Put(partition, partition.Holder);
        }
    }

    private void PlaceOthers()
    {
        foreach (PlacedPartition partition in _partitions.Where(p => !_places.ContainsKey(p.Id)))
        {
            string? place = _nodes
                .Except(partition.Unable)
                .OrderBy(node => LoadOf(partition.Id.Topic, node))
                .ThenBy(node => _loads[node])
                .ThenByDescending(node => Placement.Weight(node, partition.Id))
                .FirstOrDefault();
            if (place is not null)
                Put(partition, place);
        }
    }

    /// <summary>Spreads one topic.</summary>
    private void Even(Guid topic, PlacedPartition[] partitions)
    {
        while (true)
        {
            string[] order =
            [
                .. _nodes
                    .OrderByDescending(node => LoadOf(topic, node))
                    .ThenByDescending(node => _loads[node])
                    .ThenBy(static node => node, StringComparer.Ordinal),
            ];
            if (order.Length < 2 || LoadOf(topic, order[0]) - LoadOf(topic, order[^1]) < 2)
                return;
            if (Choose(partitions, order[0], order[^1], static _ => true) is not { } moved)
                return;
            Move(moved, order[^1]);
        }
    }

    /// <summary>Spreads all, without making a topic uneven.</summary>
    private void EvenAll()
    {
        while (true)
        {
            string[] order =
            [
                .. _nodes.OrderByDescending(node => _loads[node]).ThenBy(static node => node, StringComparer.Ordinal),
            ];
            if (order.Length < 2 || _loads[order[0]] - _loads[order[^1]] < 2)
                return;
            PlacedPartition? moved = Choose(
                _partitions,
                order[0],
                order[^1],
                p => LoadOf(p.Id.Topic, order[0]) > LoadOf(p.Id.Topic, order[^1])
            );
            if (moved is null)
                return;
            Move(moved.Value, order[^1]);
        }
    }

    private PlacedPartition? Choose(
        PlacedPartition[] partitions,
        string from,
        string to,
        Func<PlacedPartition, bool> mayMove
    ) =>
        partitions
            .Where(p => !p.IsPinned && _places.GetValueOrDefault(p.Id) == from && !p.Unable.Contains(to) && mayMove(p))
            .OrderByDescending(p => Placement.Weight(to, p.Id))
            .Select(static p => (PlacedPartition?)p)
            .FirstOrDefault();

    private int LoadOf(Guid topic, string node) => _topicLoads.GetValueOrDefault((topic, node));

    private void Put(in PlacedPartition partition, string node)
    {
        _places[partition.Id] = node;
        if (!partition.IsPinned)
            Count(partition, node, 1);
    }

    private void Move(in PlacedPartition partition, string to)
    {
        Count(partition, _places[partition.Id], -1);
        _places[partition.Id] = to;
        Count(partition, to, 1);
    }

    private void Count(in PlacedPartition partition, string node, int by)
    {
        _loads[node] += by;
        _topicLoads[(partition.Id.Topic, node)] = LoadOf(partition.Id.Topic, node) + by;
    }
}
