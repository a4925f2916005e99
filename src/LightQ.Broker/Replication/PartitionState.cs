using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>A partition's named producers and delays, as snapshots keep them.</summary>
/// <param name="partition">The partition, which is being opened.</param>
/// <param name="isProducer">Whether its topic has a named producer of an id that may have an epoch.</param>
internal sealed class PartitionState(Partition partition, Func<ulong, uint, bool> isProducer) : IPartitionState
{
    public void Load(ReadOnlySpan<byte> state) => partition.LoadState(state, isProducer);

    public void OnReplayed(in BatchView batch) => partition.OnRecovered(batch, isProducer);

    public byte[] Save() => partition.SaveState();
}
