using LightQ.Protocol.Batches;

namespace LightQ.Storage;

/// <summary>Given, while a journal opens, what is needed to rebuild the state of idempotent producers.</summary>
public interface IRecoveredBatchVisitor
{
    /// <summary>
    /// The newest valid snapshot, as <see cref="JournalOptions.ProducerSnapshot"/> made it; called at most once, first.
    /// </summary>
    void OnSnapshot(ReadOnlySpan<byte> snapshot);

    /// <summary>Every batch behind the snapshot, in order. The view holds the header only.</summary>
    void OnBatch(in BatchView header);
}
