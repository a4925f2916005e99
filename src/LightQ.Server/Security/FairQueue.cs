using System.Diagnostics.CodeAnalysis;

namespace LightQ.Server.Security;

/// <summary>
/// A queue in which sources take turns, and in each source its own sources, and so on: an item waits behind those of
/// its own source, and behind at most one at a time of each other source on each level. Not thread-safe.
/// </summary>
/// <remarks>An item's path has its source on each level; all paths are of one length.</remarks>
internal sealed class FairQueue<T>
{
    private readonly Level _top = new();

    /// <summary>How many wait in all.</summary>
    public int Count => _top.Count;

    /// <summary>Adds one behind the others of its source.</summary>
    public void Enqueue(T item, params ReadOnlySpan<object> path)
    {
        Level level = _top;
        level.Count++;
        foreach (object source in path)
        {
            level = level.Open(source);
            level.Count++;
        }
        level.Items.Enqueue(item);
    }

    /// <summary>
    /// Makes room for one with a path: on the first level on which another source has two more than its own or above,
    /// the first of the source that has most gives way.
    /// </summary>
    /// <param name="displaced">The item that no longer waits; report that to its owner.</param>
    /// <param name="path">The sources that need room.</param>
    public bool TryDisplace([MaybeNullWhen(false)] out T displaced, params ReadOnlySpan<object> path)
    {
        var way = new List<Level>(path.Length + 1);
        bool isFound = false;
        Level? own = _top;
        Level level = _top;
        for (int depth = 0; depth < path.Length; depth++)
        {
            way.Add(level);
            own = own?.Find(path[depth]);
            if (level.Longest() is not { } longest)
                break;
            // They would change places for nothing otherwise; and the longest keeps one, for its turn.
            isFound = isFound || (longest != own && longest.Count >= (own?.Count ?? 0) + 2);
            if ((isFound ? longest : own) is not { } next)
                break;
            level = next;
        }
        if (!isFound)
        {
            displaced = default;
            return false;
        }
        displaced = level.Items.Dequeue();
        level.Count--;
        way.ForEach(l => l.Count--);
        return true;
    }

    /// <summary>Takes the first of the source whose turn it is; false when nothing waits.</summary>
    public bool TryDequeue([MaybeNullWhen(false)] out T item) => _top.TryDequeue(out item);

    private sealed class Level
    {
        private readonly Dictionary<object, Level> _bySource = [];

        /// <summary>Sources that have something waiting, in the order of their turns.</summary>
        private readonly Queue<object> _turns = new();

        /// <summary>What waits here itself, on the last level.</summary>
        public Queue<T> Items { get; } = new(0);

        /// <summary>How many wait here and below.</summary>
        public int Count { get; set; }

        public Level Open(object source)
        {
            if (_bySource.TryGetValue(source, out Level? level))
                return level;
            _bySource.Add(source, level = new Level());
            _turns.Enqueue(source);
            return level;
        }

        public Level? Find(object source) => _bySource.GetValueOrDefault(source);

        public Level? Longest() => _bySource.Count == 0 ? null : _bySource.Values.MaxBy(l => l.Count);

        public bool TryDequeue([MaybeNullWhen(false)] out T item)
        {
            if (!_turns.TryDequeue(out object? source))
            {
                if (!Items.TryDequeue(out item))
                    return false;
                Count--;
                return true;
            }
            Level own = _bySource[source];
            own.TryDequeue(out item!);
            Count--;
            if (own.Count != 0)
                _turns.Enqueue(source);
            else
                _bySource.Remove(source);
            return true;
        }
    }
}
