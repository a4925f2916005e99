namespace LightQ.Bench.Checks;

/// <summary>Keeps account of numbered messages: which are missing, came twice, or came late.</summary>
/// <remarks>
/// In order it is one comparison a message; only what is out of order costs memory, a range for each hole.
/// </remarks>
internal sealed class SequenceLedger
{
    private readonly List<(long First, long End)> _missing = [];
    private long _next;

    /// <summary>Messages that came, each counted once.</summary>
    public long Received { get; private set; }

    /// <summary>Messages that had come before.</summary>
    public long Duplicated { get; private set; }

    /// <summary>Messages that came behind a later one.</summary>
    public long Reordered { get; private set; }

    /// <summary>Takes the next message.</summary>
    public void Take(long sequence)
    {
        if (sequence == _next)
        {
            _next++;
            Received++;
            return;
        }
        TakeOutOfOrder(sequence);
    }

    /// <summary>How many of the first <paramref name="sent"/> messages never came.</summary>
    public long Lost(long sent) => Math.Max(0, sent - Received);

    private void TakeOutOfOrder(long sequence)
    {
        if (sequence > _next)
        {
            _missing.Add((_next, sequence));
            _next = sequence + 1;
            Received++;
            return;
        }
        int hole = _missing.FindIndex(m => sequence >= m.First && sequence < m.End);
        if (hole < 0)
        {
            Duplicated++;
            return;
        }
        (long first, long end) = _missing[hole];
        _missing.RemoveAt(hole);
        if (sequence > first)
            _missing.Add((first, sequence));
        if (sequence + 1 < end)
            _missing.Add((sequence + 1, end));
        Reordered++;
        Received++;
    }
}
