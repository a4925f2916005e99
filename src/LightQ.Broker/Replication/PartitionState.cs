using System.Buffers.Binary;
using LightQ.Broker.Catalog;
using LightQ.Broker.Deduplication;
using LightQ.Broker.Groups;
using LightQ.Broker.Producers;
using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>A partition's named producers, delays and positions of groups, as snapshots keep them.</summary>
/// <remarks>A snapshot: u32 length of the positions, little-endian, the positions, and what journals keep.</remarks>
/// <param name="partition">The partition, which is being opened; one with positions of its own.</param>
/// <param name="catalog">Knows the named producers.</param>
internal sealed class PartitionState(Partition partition, TopicCatalog catalog) : IPartitionState
{
    /// <summary>
    /// What is known of producers that this node's catalog does not: another node may have noted them a moment ago.
    /// </summary>
    private readonly ProducerTable _unheard = new();

    /// <summary>A snapshot of positions, and of what journals keep.</summary>
    public static byte[] Encode(StreamPositions groups, ReadOnlySpan<byte> kept)
    {
        byte[] positions = groups.Save(),
            length = new byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(length, positions.Length);
        return [.. length, .. positions, .. kept];
    }

    public void Load(ReadOnlySpan<byte> state)
    {
        LoadPositions(state);
        partition.LoadState(state[(sizeof(int) + LengthOfPositions(state))..], TableOf);
    }

    public void LoadPositions(ReadOnlySpan<byte> state) =>
        partition.Positions!.Load(state.Slice(sizeof(int), LengthOfPositions(state)));

    public void OnReplayed(in BatchView batch) => partition.OnRecovered(batch, TableOf);

    public async ValueTask LearnAsync(CancellationToken cancellationToken)
    {
        if (_unheard.IsEmpty)
            return;
        await catalog.CatchUpAsync(cancellationToken).ConfigureAwait(false);
        // What the catalog does not have now is nobody's: a producer is noted before it appends.
        lock (partition.AppendLock)
            partition.NamedProducers.Take(_unheard, IsProducer);
    }

    public void OnCopied(in BatchView batch) => DedupSwitch.OnCopied(partition, batch);

    public void OnPositions(ReadOnlySpan<byte> changed) => partition.Positions!.Apply(changed);

    public void Collect()
    {
        partition.DrainGroups();
        partition.TryEndSettling(isForced: true);
        partition.KeepPositions();
    }

    public byte[] Save() => Encode(partition.Positions!, partition.SaveState());

    public IReadOnlyList<ReadOnlyMemory<byte>>? SavePositions(int mostBytes) =>
        partition.Positions!.SaveChanges(mostBytes);

    public void OnStored() => partition.Positions!.OnStored();

    private ProducerTable TableOf(ulong id, uint epoch) => IsProducer(id, epoch) ? partition.NamedProducers : _unheard;

    private bool IsProducer(ulong id, uint epoch) => catalog.HasProducer(partition.Topic.Id, id, epoch);

    private static int LengthOfPositions(ReadOnlySpan<byte> state)
    {
        int length = state.Length < sizeof(int) ? -1 : BinaryPrimitives.ReadInt32LittleEndian(state);
        return length >= 0 && length <= state.Length - sizeof(int)
            ? length
            : throw new ReplicationException("A snapshot contradicts its length.");
    }
}
