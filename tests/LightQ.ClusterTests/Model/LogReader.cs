using System.Collections.Immutable;

namespace LightQ.ClusterTests.Model;

/// <summary>
/// What every reader of the stream does: it tells valid entries from void ones by R3, and knows offset, producers and
/// snapshot behind what it has read.
/// </summary>
internal struct LogReader(Dropped dropped, int parts)
{
    private int _firstPart;

    public int Epoch { get; private set; }

    /// <summary>The next offset.</summary>
    public int Next { get; private set; }

    /// <summary>The last number of each producer.</summary>
    public Numbers Table { get; private set; }

    /// <summary>The sequence of the last snapshot that was valid and whole, or 0.</summary>
    public int Snapshot { get; private set; }

    /// <summary>Reads what a new owner reads: a snapshot by R4, then all that follows by R3.</summary>
    public static LogReader TakeOver(ImmutableArray<Entry> log, Dropped dropped, int parts)
    {
        var reader = new LogReader(dropped, parts);
        int start = dropped.HasFlag(Dropped.NamedSnapshot) ? LastSnapshot(log) : NamedSnapshot(log);
        if (start != 0)
            reader.Restore(log, start);
        for (int i = start; i < log.Length; i++)
            reader.Take(log[i], i + 1);
        return reader;
    }

    /// <summary>Whether it is valid, which what lies before it decides, and nothing that follows.</summary>
    public bool Take(Entry entry, int sequence)
    {
        int firstPart = _firstPart;
        _firstPart = 0;
        if (entry.Kind is EntryKind.Claim)
        {
            Epoch = entry.Epoch;
            return true;
        }

        if (!dropped.HasFlag(Dropped.Epoch) && entry.Epoch != Epoch)
            return false;
        if (!dropped.HasFlag(Dropped.Offset) && entry.Offset != Next)
            return false;
        if (entry.Kind is EntryKind.Data)
        {
            Next = entry.Offset + 1;
            Table = Table.With(entry.Producer, entry.Number);
        }
        else if (entry.Part < parts - 1)
        {
            _firstPart = sequence;
        }
        else if (parts == 1 || firstPart == sequence - 1)
        {
            Snapshot = sequence;
        }

        return true;
    }

    private static int LastSnapshot(ImmutableArray<Entry> log)
    {
        int sequence = log.Length;
        while (sequence > 0 && log[sequence - 1].Kind is not EntryKind.Snapshot)
            sequence--;
        return sequence;
    }

    /// <summary>What the last snapshot of the last claim's epoch names, or the claim, if there is none.</summary>
    private static int NamedSnapshot(ImmutableArray<Entry> log)
    {
        int claim = log.Length - 1;
        while (log[claim].Kind is not EntryKind.Claim)
            claim--;
        int named = log[claim].Names;
        for (int i = claim + 1; i < log.Length; i++)
        {
            if (log[i].Kind is EntryKind.Snapshot && log[i].Epoch == log[claim].Epoch)
                named = log[i].Names;
        }

        return named;
    }

    /// <summary>Takes over the state of the snapshot that ends at this sequence, with as many parts as are there.</summary>
    private void Restore(ImmutableArray<Entry> log, int sequence)
    {
        Entry last = log[sequence - 1];
        (Epoch, Next, Table, Snapshot) = (last.Epoch, last.Offset, last.Table, sequence);
        if (last.Part == 1 && sequence > 1 && log[sequence - 2] is { Kind: EntryKind.Snapshot, Part: 0 } first)
            Table = new Numbers((byte)(Table.Bits | first.Table.Bits));
    }
}
