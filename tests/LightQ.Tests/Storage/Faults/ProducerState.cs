using System.Buffers.Binary;
using LightQ.Protocol.Batches;
using LightQ.Storage;

namespace LightQ.Tests.Storage.Faults;

/// <summary>The last number of each producer, as a journal's snapshots keep it and a start rebuilds it.</summary>
internal sealed class ProducerState : IRecoveredBatchVisitor
{
    private const int EntrySize = 12;

    public Dictionary<ulong, int> LastNumbers { get; } = [];

    public static byte[] Save(Dictionary<ulong, int> lastNumbers)
    {
        byte[] bytes = new byte[lastNumbers.Count * EntrySize];
        int at = 0;
        foreach ((ulong producer, int number) in lastNumbers)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(at), producer);
            BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(at + 8), number);
            at += EntrySize;
        }
        return bytes;
    }

    public void OnSnapshot(ReadOnlySpan<byte> snapshot)
    {
        for (; snapshot.Length >= EntrySize; snapshot = snapshot[EntrySize..])
        {
            LastNumbers[BinaryPrimitives.ReadUInt64LittleEndian(snapshot)] = BinaryPrimitives.ReadInt32LittleEndian(
                snapshot[8..]
            );
        }
    }

    public void OnBatch(in BatchView header) => LastNumbers[header.ProducerId] = (int)header.BaseSequence;
}
