namespace LightQ.Broker.Groups;

/// <summary>
/// Which consumer has which partition of a topic: with several partitions, each belongs to one consumer of the group,
/// so that messages with the same key stay in order.
/// </summary>
/// <remarks>
/// A consumer is what subscribes under one member number of one connection. Partitions are shared evenly, to one more
/// or less, and move only as far as that needs: a consumer keeps what it has when others come and go. The one that gets
/// a partition is served once the one before holds nothing of it any more. Lock order: this, then a group's gate.
/// </remarks>
internal sealed class GroupAssignment
{
    private readonly Lock _lock = new();
    private readonly List<Consumer> _consumers = [];
    private readonly SortedDictionary<uint, Consumer> _owners = [];

    /// <summary>A consumer subscribed to one more partition.</summary>
    public void Join(GroupMember member)
    {
        lock (_lock)
        {
            (uint Connection, uint Number) id = IdOf(member);
            Consumer? consumer = _consumers.Find(c => c.Id == id);
            if (consumer is null)
                _consumers.Add(consumer = new Consumer(id));
            (member as ExplicitMember)?.Share(consumer.Hand);
            // If a consumer has two subscriptions to a partition, the first counts as long as it lives: one may be on
            // its way out.
            if (!consumer.Members.TryAdd(member.Partition.Index, member))
                consumer.Others.Add(member);
            Share();
        }
    }

    /// <summary>A subscription of a consumer has ended.</summary>
    public void Leave(GroupMember member)
    {
        lock (_lock)
        {
            (uint Connection, uint Number) id = IdOf(member);
            uint partition = member.Partition.Index;
            if (_consumers.Find(c => c.Id == id) is not { } consumer || consumer.Others.Remove(member))
                return;
            bool isOwner = _owners.GetValueOrDefault(partition) == consumer;
            if (consumer.Others.Find(m => m.Partition.Index == partition) is { } next)
            {
                consumer.Others.Remove(next);
                consumer.Members[partition] = next;
                if (isOwner)
                    next.Group.Assign(next);
                return;
            }
            consumer.Members.Remove(partition);
            if (isOwner)
            {
                _owners.Remove(partition);
                consumer.Owned--;
                member.Group.Assign(null);
            }
            if (consumer.Members.Count == 0)
                _consumers.Remove(consumer);
            Share();
        }
    }

    private static (uint Connection, uint Number) IdOf(GroupMember member) =>
        (member.Owner.ConnectionId, member.Member != 0 ? member.Member : member.Id);

    private void Share()
    {
        if (_consumers.Count == 0)
            return;
        uint[] partitions = [.. _consumers.SelectMany(c => c.Members.Keys).Distinct().Order()];
        int least = partitions.Length / _consumers.Count,
            withOneMore = partitions.Length % _consumers.Count;
        Release(least, withOneMore);
        foreach (uint partition in partitions)
        {
            if (_owners.ContainsKey(partition))
                continue;
            Consumer owner = _consumers.Where(c => c.Members.ContainsKey(partition)).MinBy(c => c.Owned)!;
            owner.Owned++;
            _owners.Add(partition, owner);
            GroupMember member = owner.Members[partition];
            member.Group.Assign(member);
        }
    }

    /// <summary>
    /// Takes partitions from a consumer with more than its share, as long as another one can have them.
    /// </summary>
    private void Release(int least, int withOneMore)
    {
        foreach (Consumer consumer in _consumers.OrderByDescending(c => c.Owned).ToArray())
        {
            int share = least;
            if (consumer.Owned > least && withOneMore > 0)
            {
                share++;
                withOneMore--;
            }
            foreach (uint partition in _owners.Where(o => o.Value == consumer).Select(o => o.Key).Reverse().ToArray())
            {
                if (consumer.Owned <= share)
                    break;
                if (
                    !_consumers.Exists(c =>
                        c != consumer
                        && c.Owned < least + 1
                        && c.Owned < consumer.Owned - 1
                        && c.Members.ContainsKey(partition)
                    )
                )
                {
                    continue;
                }

                _owners.Remove(partition);
                consumer.Owned--;
            }
        }
    }

    private sealed class Consumer((uint Connection, uint Number) id)
    {
        public (uint Connection, uint Number) Id { get; } = id;

        public Dictionary<uint, GroupMember> Members { get; } = [];

        /// <summary>Its further subscriptions to partitions that it has one of.</summary>
        public List<GroupMember> Others { get; } = [];

        public ConsumerHand Hand { get; } = new();

        public int Owned { get; set; }
    }
}
