using LightQ.Protocol.Batches;

namespace LightQ.ClusterTests.Log;

/// <summary>A batch as a log holds it.</summary>
internal readonly record struct Stored(ulong Producer, ulong Sequence, long Offset, long NextOffset, uint Epoch)
{
    public static Stored Of(in BatchView batch) =>
        new(batch.ProducerId, batch.BaseSequence, batch.BaseOffset, batch.NextOffset, batch.LeaderEpoch);
}
