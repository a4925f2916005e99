using LightQ.Storage.State;

namespace LightQ.Tests.Storage.Faults;

/// <summary>What a catalog and a store of positions were told to keep, and what they promised.</summary>
internal sealed class StateModel(SimulatedFileSystem files)
{
    private readonly List<(int At, string[] Records)> _tried = [(0, [])];
    private readonly List<(int At, int Version)> _kept = [(0, 0)];
    private readonly Dictionary<OffsetKey, List<(int At, long Offset)>> _set = [];
    private readonly List<(int At, Dictionary<OffsetKey, int> Versions)> _flushed = [];

    public string[] Records => _tried[^1].Records;

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

    public void KeptPositions() => _flushed.Add((files.Now, _set.ToDictionary(entry => entry.Key, entry => entry.Value.Count - 1)));

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
        int least = _flushed.FindLast(flushed => flushed.At <= now).Versions?.GetValueOrDefault(key) ?? 0;
        for (int i = least; i < history.Count && (i == least || history[i].At <= now); i++)
        {
            if (history[i].Offset == offset)
                return true;
        }
        return false;
    }

    public IReadOnlyCollection<OffsetKey> Keys => _set.Keys;
}
