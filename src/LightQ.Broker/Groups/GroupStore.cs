using LightQ.Broker.DeadLetters;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Storage.State;

namespace LightQ.Broker.Groups;

/// <summary>
/// Where groups are kept: those of a durable partition on the broker's disk, those of a partition with replicas in the
/// partition's stream, and never on the disk as well. Thread-safe.
/// </summary>
/// <remarks>What this node's disk says of a partition that another node has owned since would be old.</remarks>
internal sealed class GroupStore(OffsetStore disk)
{
    private static readonly TimeSpan LongestFlush = TimeSpan.FromSeconds(10);

    /// <summary>The names of groups that are kept, by topic.</summary>
    public ILookup<Guid, string> NamesOf(IReadOnlyList<Topic> topics)
    {
        HashSet<Guid> onDisk =
        [
            .. topics.Where(t => t.Settings is { Kind: TopicKind.Durable, IsReplicated: false }).Select(t => t.Id),
        ];
        return disk
            .Keys.Where(k => onDisk.Contains(k.TopicId))
            .Select(k => (k.TopicId, k.Group))
            .Concat(
                topics
                    .Where(t => t.Settings.IsReplicated)
                    .SelectMany(t =>
                        t.Partitions.SelectMany(p => p.Positions?.Names ?? []).Select(n => (TopicId: t.Id, Group: n))
                    )
            )
            .Where(k => !Redrive.IsPosition(k.Group))
            .ToLookup(k => k.TopicId, k => k.Group);
    }

    /// <summary>How many positions are kept where those of a topic are: as many groups as it may have.</summary>
    public int CountBeside(Topic topic) =>
        topic.Settings.IsReplicated ? topic.Partitions.Sum(p => p.Positions?.Count ?? 0) : disk.Count;

    /// <summary>Sets a position; stored later. One of a partition that is not owned is its owner's to set.</summary>
    public void Set(Partition partition, string name, long offset, byte[] state)
    {
        if (!partition.Topic.Settings.IsReplicated)
            disk.Set(KeyOf(partition, name), offset, state);
        else
            partition.Positions?.Set(name, offset, state);
    }

    /// <summary>Gets a position.</summary>
    public bool TryGet(Partition partition, string name, out long offset, out ReadOnlyMemory<byte> state)
    {
        if (!partition.Topic.Settings.IsReplicated)
            return disk.TryGet(KeyOf(partition, name), out offset, out state);
        (offset, state) = (-1, default);
        return partition.Positions?.TryGet(name, out offset, out state) == true;
    }

    /// <summary>
    /// Gets the lowest position that is found whatever ends the broker, the machine or the ownership.
    /// </summary>
    public bool TryGetKept(Partition partition, string name, out long offset)
    {
        if (!partition.Topic.Settings.IsReplicated)
            return disk.TryGetKept(KeyOf(partition, name), out offset);
        offset = -1;
        return partition.Positions?.TryGetKept(name, out offset) == true;
    }

    /// <summary>Forgets a position; stored later.</summary>
    public void Remove(Partition partition, string name)
    {
        if (!partition.Topic.Settings.IsReplicated)
            disk.Remove(KeyOf(partition, name));
        else
            partition.Positions?.Remove(name);
    }

    /// <summary>Forgets everything of a partition that is deleted.</summary>
    public void RemoveAll(Partition partition)
    {
        if (partition.Topic.Settings.IsReplicated)
            return; // It goes with the stream.
        foreach (
            OffsetKey key in disk.Keys.Where(k => k.TopicId == partition.Topic.Id && k.Partition == partition.Index)
        )
        {
            disk.Remove(key);
        }
    }

    /// <summary>The positions on the disk that are kept beside a partition.</summary>
    public IReadOnlyList<(string Name, long Offset, ReadOnlyMemory<byte> State)> OnDisk(Partition partition)
    {
        var found = new List<(string, long, ReadOnlyMemory<byte>)>();
        foreach (
            OffsetKey key in disk.Keys.Where(k => k.TopicId == partition.Topic.Id && k.Partition == partition.Index)
        )
        {
            if (disk.TryGet(key, out long offset, out ReadOnlyMemory<byte> state))
                found.Add((key.Group, offset, state));
        }
        return found;
    }

    /// <summary>Forgets the positions on the disk of a topic that has them in streams now.</summary>
    public void ForgetDisk(Guid topic)
    {
        foreach (OffsetKey key in disk.Keys.Where(k => k.TopicId == topic))
            disk.Remove(key);
    }

    /// <summary>Whether a start, or the next owner, may find a position of a topic that was removed.</summary>
    public bool IsForgetting(Topic topic) =>
        topic.Settings.IsReplicated
            ? topic.Partitions.Any(p => p.Positions?.IsForgetting == true)
            : disk.IsForgetting(topic.Id);

    /// <summary>Has what has changed of a partition's positions stored soon.</summary>
    public static void RequestStore(Partition partition) => partition.Positions?.Request();

    /// <summary>Returns when everything that was set on the disk is there.</summary>
    /// <exception cref="IOException">The disk refuses.</exception>
    public void FlushDisk() => disk.Flush();

    /// <summary>Returns when everything that was set of a topic's groups is stored.</summary>
    /// <exception cref="UnstoredException">The disk refuses; it counts all the same.</exception>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.NotLeader"/>: a partition was lost before, so that the next owner may not know of it.
    /// </exception>
    public void Flush(Topic topic)
    {
        if (!topic.Settings.IsReplicated)
        {
            try
            {
                disk.Flush();
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException)
            {
                throw UnstoredException.InForce(error);
            }
            return;
        }
        foreach (Partition partition in topic.Partitions)
        {
            if (
                partition.Positions?.TryFlush(() => partition.Log is ReplicatedLog { IsOwner: true }, LongestFlush)
                == false
            )
            {
                throw new BrokerException(
                    ErrorCode.NotLeader,
                    topic.Describe(
                        partition.Index,
                        "the partition was lost before the change was stored, and its next owner may not know of it; "
                            + "make the change again"
                    )
                );
            }
        }
    }

    private static OffsetKey KeyOf(Partition partition, string group) =>
        new(group, partition.Topic.Id, (int)partition.Index);
}
