using LightQ.Protocol.Batches;

namespace LightQ.Storage.Recovery;

/// <summary>Notes where each epoch's batches begin.</summary>
internal sealed class EpochFinder : IRecoveredBatchVisitor
{
    /// <summary>The epochs, oldest first.</summary>
    public List<(uint Epoch, long FirstOffset)> Epochs { get; } = [];

    public void OnSnapshot(ReadOnlySpan<byte> snapshot)
    {
        // A walk over batches has no snapshots.
    }

    public void OnBatch(in BatchView header)
    {
        if (Epochs.Count == 0 || header.LeaderEpoch > Epochs[^1].Epoch)
            Epochs.Add((header.LeaderEpoch, header.BaseOffset));
    }
}
