using LightQ.Protocol.Batches;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>Counts the batches of a walk.</summary>
internal sealed class BatchTally : IRecoveredBatchVisitor
{
    private int _lastRecords;

    public long Batches { get; private set; }

    public long Messages { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>Where the batch that was seen last begins.</summary>
    public LogEnd LastStart { get; private set; }

    /// <summary>Its length; 0 when none was seen since the last <see cref="Settle"/>.</summary>
    public int LastLength { get; private set; }

    /// <summary>Ranges that an earlier repair declared lost.</summary>
    public List<(long FirstOffset, long LastOffset, long Position)> Gaps { get; } = [];

    public void OnSnapshot(ReadOnlySpan<byte> snapshot)
    {
        // A walk over batches has no snapshots.
    }

    public void OnBatch(in BatchView header)
    {
        long position = LastStart.Position + LastLength;
        LastStart = new LogEnd(position, header.BaseOffset, header.AppendTime, LastStart.Ordinal, header.PreviousCrc);
        LastLength = header.Length;
        _lastRecords = header.Kind == BatchKind.Data ? header.RecordCount : 0;
        Count(1);
        if (header.Kind == BatchKind.Gap)
            Gaps.Add((header.BaseOffset, header.NextOffset - 1, position));
    }

    /// <summary>A walk begins.</summary>
    public void Begin(LogEnd at) => (LastStart, LastLength) = (at, 0);

    /// <summary>A walk has ended: the batch seen last does not count if the walk ended before it.</summary>
    public void Settle(LogEnd reached)
    {
        if (LastLength == 0 || reached.Position > LastStart.Position)
            return;
        Count(-1);
        LastLength = 0;
    }

    /// <summary>The batch seen last turned out not to belong here.</summary>
    public void DropLast()
    {
        Count(-1);
        LastLength = 0;
    }

    private void Count(int sign)
    {
        Batches += sign;
        Messages += sign * _lastRecords;
        Bytes += sign * LastLength;
    }
}
