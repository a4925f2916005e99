using LightQ.Broker.Catalog;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Topics;
using LightQ.Storage.Inspection;
using LightQ.Storage.State;

namespace LightQ.Broker.Groups;

/// <summary>
/// What the positions of groups say of how far logs had been durable: a group has settled nothing that was not, where
/// consumers see nothing else.
/// </summary>
/// <remarks>
/// A position says it of the epoch that it was reached in alone: a later start, or a repair, may have ended the log in
/// front of it since.
/// </remarks>
public sealed class KnownOffsets
{
    private readonly Dictionary<(Guid Topic, int Partition), (uint Epoch, long Offset)> _known = [];

    /// <summary>What a store of positions says.</summary>
    internal static KnownOffsets Of(OffsetStore positions)
    {
        var known = new KnownOffsets();
        foreach (OffsetKey key in positions.Keys)
        {
            if (positions.TryGet(key, out long offset, out ReadOnlyMemory<byte> state))
                known.Add(key, offset, state.Span);
        }
        return known;
    }

    /// <summary>Reads the positions of a broker that does not run. Changes nothing.</summary>
    /// <param name="dataDirectory">The data directory; without positions in it, nothing is known.</param>
    /// <exception cref="IOException">They cannot be read.</exception>
    public static KnownOffsets Read(string dataDirectory)
    {
        string groups = Path.Combine(dataDirectory, "groups"),
            catalog = Path.Combine(dataDirectory, TopicCatalog.DirectoryName);
        var known = new KnownOffsets();
        if (!JournalInspector.IsJournal(groups) || !JournalInspector.IsJournal(catalog))
            return known;
        var positions = new Dictionary<OffsetKey, (long Offset, byte[] State)>();
        JournalInspector.InspectRecords(
            groups,
            record =>
            {
                while (record.Length > 0)
                {
                    (OffsetKey key, long offset, byte[] state) = OffsetEntry.Read(ref record);
                    if (offset < 0)
                        positions.Remove(key);
                    else
                        positions[key] = (offset, state);
                }
            }
        );
        IReadOnlySet<Guid> topics = CatalogReader.ReadTopics(catalog, Counts);
        foreach ((OffsetKey key, (long offset, byte[] state)) in positions.Where(p => topics.Contains(p.Key.TopicId)))
            known.Add(key, offset, state);
        return known;
    }

    /// <summary>Everything below it was durable in an epoch of a partition's log; 0 when nothing says so.</summary>
    public long Below(Guid topic, int partition, uint epoch) =>
        _known.TryGetValue((topic, partition), out (uint Epoch, long Offset) known) && known.Epoch == epoch
            ? known.Offset
            : 0;

    /// <summary>Whether the groups of a topic see only what is durable on this node's disk.</summary>
    internal static bool Counts(TopicSettings settings) =>
        settings is { Kind: TopicKind.Durable, IsReplicated: false, ReadLevel: Durability.Fsync };

    private void Add(in OffsetKey key, long offset, ReadOnlySpan<byte> state)
    {
        if (Redrive.IsPosition(key.Group) || GroupState.Decode(offset, state) is not { Epoch: > 0 and { } epoch } group)
            return;
        (uint Epoch, long Offset) known = _known.GetValueOrDefault((key.TopicId, key.Partition));
        long below = Math.Max(group.Committed, group.Next);
        if (epoch > known.Epoch || (epoch == known.Epoch && below > known.Offset))
            _known[(key.TopicId, key.Partition)] = (epoch, below);
    }
}
