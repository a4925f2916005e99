using System.Buffers;
using LightQ.Client.Batches;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>
/// A publish that found no room: an encoded record, a whole batch, or neither for a caller that only waits for room.
/// </summary>
/// <param name="Record">A rented array with the record, or null.</param>
/// <param name="RecordLength">The record's bytes.</param>
/// <param name="Batch">The batch, or null.</param>
/// <param name="Completion">The caller that waits.</param>
/// <param name="Properties">When the record is due and when it expires, and its id.</param>
internal readonly record struct WaitingPublish(
    byte[]? Record,
    int RecordLength,
    SendBatch? Batch,
    PublishCompletion Completion,
    BatchProperties Properties = default
)
{
    /// <summary>How many messages it brings.</summary>
    public int Count => Batch?.Count ?? (Record is null ? 0 : 1);

    public ReadOnlySpan<byte> Encoded => Record.AsSpan(0, RecordLength);

    /// <summary>Gives the memory back; the record was copied into a batch, or no caller needs it any more.</summary>
    public void ReturnRecord()
    {
        if (Record is not null)
            ArrayPool<byte>.Shared.Return(Record);
    }
}
