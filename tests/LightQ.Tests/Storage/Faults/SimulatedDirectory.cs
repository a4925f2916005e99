namespace LightQ.Tests.Storage.Faults;

/// <summary>A directory: the names that programs see, and those that a power cut leaves.</summary>
internal sealed class SimulatedDirectory
{
    private readonly List<NameChange> _unsynced = [];
    private readonly Dictionary<string, object> _current;
    private Dictionary<string, object> _durable;

    public SimulatedDirectory(Dictionary<string, object>? entries = null)
    {
        _current = entries ?? [];
        _durable = new Dictionary<string, object>(_current);
    }

    /// <summary>Names, and the <see cref="SimulatedFile"/> or <see cref="SimulatedDirectory"/> of each.</summary>
    public IReadOnlyDictionary<string, object> Current => _current;

    public void Add(string name, object node) => Change(new NameChange(null, name, node));

    public void Remove(string name) => Change(new NameChange(name, null, null));

    public void Rename(string from, string to) => Change(new NameChange(from, to, _current[from]));

    public void Sync()
    {
        _durable = new Dictionary<string, object>(_current);
        _unsynced.Clear();
    }

    /// <summary>The same directory, with copies of what is in it.</summary>
    public SimulatedDirectory Clone(Func<object, object> clone)
    {
        var copy = new SimulatedDirectory(Clone(_current, clone)) { _durable = Clone(_durable, clone) };
        copy._unsynced.AddRange(
            _unsynced.Select(change => change with { Node = change.Node is null ? null : clone(change.Node) })
        );
        return copy;
    }

    /// <summary>The names that a power cut leaves.</summary>
    public IReadOnlyDictionary<string, object> Crash(CrashKind kind, Random random)
    {
        var left = new Dictionary<string, object>(_durable);
        if (kind == CrashKind.SyncedOnly)
            return left;
        int count = random.Next(_unsynced.Count + 1);
        for (int i = 0; i < _unsynced.Count; i++)
        {
            if (kind == CrashKind.Random ? i < count : random.Next(2) == 0)
                _unsynced[i].Apply(left);
        }
        return left;
    }

    private static Dictionary<string, object> Clone(Dictionary<string, object> entries, Func<object, object> clone) =>
        entries.ToDictionary(entry => entry.Key, entry => clone(entry.Value));

    private void Change(NameChange change)
    {
        change.Apply(_current);
        _unsynced.Add(change);
    }

    /// <summary>A name that goes, a name that comes, or both at once.</summary>
    private sealed record NameChange(string? Removed, string? Added, object? Node)
    {
        public void Apply(Dictionary<string, object> entries)
        {
            if (Removed is not null)
                entries.Remove(Removed);
            if (Added is not null)
                entries[Added] = Node!;
        }
    }
}
