using LightQ.Protocol.Batches;

namespace LightQ.Tests.Storage.Faults;

/// <summary>A batch as it lies in a segment.</summary>
internal sealed record StoredBatch(string Path, long FilePosition, long BaseOffset, byte[] Bytes)
{
    public long NextOffset => new BatchView(Bytes).NextOffset;

    /// <summary>Offset below which everything had been durable when this was appended.</summary>
    public long ProvesDurable => BaseOffset - new BatchView(Bytes).DurableBack;

    public bool IsIntact(SimulatedDisk disk) =>
        disk.Find(Path) is SimulatedFile file
        && file.Current.Length >= FilePosition + Bytes.Length
        && file.Current.Slice((int)FilePosition, Bytes.Length).SequenceEqual(Bytes);
}
