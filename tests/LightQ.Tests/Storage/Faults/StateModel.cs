using LightQ.Storage.State;

namespace LightQ.Tests.Storage.Faults;

/// <summary>What a catalog and a store of positions were told to keep, and what they promised.</summary>
internal sealed class StateModel(SimulatedFileSystem files)
{
    private readonly List<(int At, string[] Records)> _tried = [(0, [])];
    private readonly List<(int At, int Version)> _kept = [(0, 0)];
    private readonly Dictionary<OffsetKey, List<(int At, long Offset)>> _set = [];
    private readonly List<(int At, Dictionary<OffsetKey, int> Versions)> _flushed = [];
    private readonly Dictionary<OffsetKey, List<(int At, int Version, long Kept)>> _promised = [];

    public string[] Records => _tried[^1].Records;

    public IReadOnlyCollection<OffsetKey> Keys => _set.Keys;

    /// <summary>The records will be these, if the disk does what it is told now.</summary>
    public void TryRecords(string[] records) => _tried.Add((files.Now, records));

    /// <summary>They are, whatever happens.</summary>
    public void KeptRecords() => _kept.Add((files.Now, _tried.Count - 1));

    public void SetPosition(OffsetKey key, long offset)
    {
        if (!_set.TryGetValue(key, out List<(int At, long Offset)>? history))
            _set[key] = history = [(0, -1)];
        history.Add((files.Now, offset));
    }

    public void KeptPositions() =>
        _flushed.Add((files.Now, _set.ToDictionary(entry => entry.Key, entry => entry.Value.Count - 1)));

    /// <summary>
    /// The store says of every position which is the lowest that a start would find; -1 when it may find none.
    /// </summary>
    public void PromisedPositions(Func<OffsetKey, long> kept)
    {
        foreach ((OffsetKey key, List<(int At, long Offset)> history) in _set)
        {
            if (!_promised.TryGetValue(key, out List<(int At, int Version, long Kept)>? promises))
                _promised[key] = promises = [];
            promises.Add((files.Now, history.Count, kept(key)));
        }
    }

    /// <summary>Whether records are what a crash after so many changes may leave.</summary>
    public bool Allows(int now, IReadOnlyList<string> records)
    {
        int least = _kept.FindLast(kept => kept.At <= now).Version;
        for (int i = least; i < _tried.Count && _tried[i].At <= now; i++)
        {
            if (_tried[i].Records.AsSpan().SequenceEqual([.. records]))
                return true;
        }
        return false;
    }

    /// <summary>Whether a position is one that a crash after so many changes may leave.</summary>
    public bool Allows(int now, OffsetKey key, long offset)
    {
        if (!_set.TryGetValue(key, out List<(int At, long Offset)>? history))
            return offset < 0;
        if (offset < LowestPromised(now, key, history))
            return false;
        int least = _flushed.FindLast(flushed => flushed.At <= now).Versions?.GetValueOrDefault(key) ?? 0;
        for (int i = least; i < history.Count && (i == least || history[i].At <= now); i++)
        {
            if (history[i].Offset == offset)
                return true;
        }
        return false;
    }

    /// <summary>
    /// What the store promised last, or what is lower of what was set last and since: that may be about to be stored.
    /// </summary>
    private long LowestPromised(int now, OffsetKey key, List<(int At, long Offset)> history)
    {
        (int _, int version, long lowest) = _promised.TryGetValue(
            key,
            out List<(int At, int Version, long Kept)>? promises
        )
            ? promises.FindLast(p => p.At <= now)
            : default;
        if (version == 0)
            return -1;
        foreach ((int at, long offset) in history[(version - 1)..])
        {
            if (at <= now)
                lowest = Math.Min(lowest, offset);
        }
        return lowest;
    }
}
