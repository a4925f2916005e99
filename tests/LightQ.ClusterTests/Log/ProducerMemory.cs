using System.Buffers.Binary;
using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;

namespace LightQ.ClusterTests.Log;

/// <summary>What a partition remembers of its producers: the sequence that each sends next.</summary>
internal sealed class ProducerMemory : IPartitionState
{
    private const int EntrySize = 16;
    private readonly SortedDictionary<ulong, ulong> _next = [];

    public bool IsDuplicate(ulong producer, ulong sequence) =>
        _next.TryGetValue(producer, out ulong next) && sequence < next;

    public void Remember(ulong producer, ulong sequence) => _next[producer] = sequence + 1;

    public void Load(ReadOnlySpan<byte> state)
    {
        for (; !state.IsEmpty; state = state[EntrySize..])
        {
            _next[BinaryPrimitives.ReadUInt64LittleEndian(state)] = BinaryPrimitives.ReadUInt64LittleEndian(state[8..]);
        }
    }

    public void LoadPositions(ReadOnlySpan<byte> state)
    {
        // It has none.
    }

    public void OnPositions(ReadOnlySpan<byte> changed)
    {
        // It has none.
    }

    public void Collect()
    {
        // It has none.
    }

    public IReadOnlyList<ReadOnlyMemory<byte>>? SavePositions(int mostBytes) => [];

    public void OnStored()
    {
        // It remembers no more for it.
    }

    public void OnReplayed(in BatchView batch) => Remember(batch.ProducerId, batch.BaseSequence);

    public ValueTask LearnAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public void OnCopied(in BatchView batch)
    {
        // Its snapshots and what is replayed say everything.
    }

    public byte[] Save()
    {
        byte[] state = new byte[_next.Count * EntrySize];
        int at = 0;
        foreach ((ulong producer, ulong next) in _next)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(state.AsSpan(at), producer);
            BinaryPrimitives.WriteUInt64LittleEndian(state.AsSpan(at + 8), next);
            at += EntrySize;
        }
        return state;
    }
}
