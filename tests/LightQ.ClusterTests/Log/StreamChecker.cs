using System.Buffers.Binary;
using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>
/// Reads a raw stream by rule R3, apart from the product's own reader, and compares it with what producers were told
/// and nodes keep.
/// </summary>
internal sealed class StreamChecker
{
    private readonly List<Stored> _log = [];
    private readonly BatchAction? _onBatch;

    /// <param name="entries">The stream from its beginning.</param>
    /// <param name="onBatch">Called with each batch that counts; null for nothing.</param>
    public StreamChecker(IEnumerable<StreamEntry> entries, BatchAction? onBatch = null)
    {
        _onBatch = onBatch;
        foreach (StreamEntry entry in entries)
        {
            if (!Take(entry))
                Void++;
        }
    }

    public delegate void BatchAction(in BatchView batch);

    /// <summary>The batches that count.</summary>
    public IReadOnlyList<Stored> Log => _log;

    public int Void { get; private set; }

    public int Snapshots { get; private set; }

    /// <summary>The epoch of the last claim.</summary>
    public uint Epoch { get; private set; }

    private long Next => _log.Count == 0 ? 0 : _log[^1].NextOffset;

    /// <summary>
    /// Fails unless each acknowledged batch is there exactly once, where it was said to be, and in order.
    /// </summary>
    /// <param name="acknowledged">By producer: the offset of each of its batches, -1 where that was not said.</param>
    public void Check(IReadOnlyDictionary<ulong, IReadOnlyList<long>> acknowledged)
    {
        foreach ((ulong producer, IReadOnlyList<long> offsets) in acknowledged)
        {
            Stored[] own = [.. _log.Where(batch => batch.Producer == producer)];
            for (int i = 0; i < offsets.Count; i++)
            {
                Assert.True(i < own.Length, $"lost: producer {producer}, sequence {i}");
                Assert.True(own[i].Sequence == (ulong)i, $"producer {producer}: {own[i].Sequence} where {i} belongs");
                Assert.True(
                    offsets[i] < 0 || offsets[i] == own[i].Offset,
                    $"producer {producer}, sequence {i}: acknowledged at {offsets[i]}, stored at {own[i].Offset}"
                );
            }
            Assert.True(own.Length <= offsets.Count + 1, $"duplicated: producer {producer} has {own.Length} batches");
        }
    }

    /// <summary>Fails unless what a node keeps is the front of what counts.</summary>
    public void CheckNode(ReplicaNode node)
    {
        List<Stored> kept = node.ReadJournal();
        Assert.True(kept.Count <= _log.Count, $"{node.Name} keeps {kept.Count} batches of {_log.Count}");
        int first = kept.Count == 0 ? 0 : _log.FindIndex(batch => batch.Offset == kept[0].Offset);
        for (int i = 0; i < kept.Count; i++)
            Assert.Equal(_log[first + i], kept[i]);
    }

    private bool Take(in StreamEntry entry) =>
        entry.Kind == EntryKind.Data ? TakeRun(entry.Payload.Span) : TakeControl(entry.Kind, entry.Payload.Span);

    private bool TakeControl(EntryKind kind, ReadOnlySpan<byte> bytes)
    {
        uint epoch = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]);
        bool isNext = BinaryPrimitives.ReadInt64LittleEndian(bytes[16..]) == Next;
        if (kind == EntryKind.Claim && isNext && epoch == Epoch + 1)
        {
            Epoch = epoch;
            return true;
        }
        if (kind == EntryKind.Claim || !isNext || epoch != Epoch)
            return false;
        if (kind == EntryKind.Snapshot)
            Snapshots++;
        return true;
    }

    private bool TakeRun(ReadOnlySpan<byte> run)
    {
        ReadOnlySpan<byte> whole = run;
        List<Stored> batches = [];
        long next = Next;
        for (; BatchView.TryRead(run, out BatchView batch); run = run[batch.Length..])
        {
            if (batch.LeaderEpoch != Epoch || batch.BaseOffset != next)
                return false;
            next = batch.NextOffset;
            batches.Add(Stored.Of(batch));
        }
        Assert.True(run.IsEmpty);
        _log.AddRange(batches);
        for (; _onBatch is not null && BatchView.TryRead(whole, out BatchView batch); whole = whole[batch.Length..])
            _onBatch(batch);
        return true;
    }
}
