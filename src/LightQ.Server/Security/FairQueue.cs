using System.Diagnostics.CodeAnalysis;

namespace LightQ.Server.Security;

/// <summary>
/// A queue in which sources take turns: an item waits behind those of its own source, and behind at most one at a time
/// of each other source. Not thread-safe.
/// </summary>
internal sealed class FairQueue<TSource, T>
    where TSource : notnull
{
    private readonly Dictionary<TSource, Queue<T>> _bySource = [];

    /// <summary>Sources that have something waiting, in the order of their turns.</summary>
    private readonly Queue<TSource> _turns = new();

    /// <summary>How many wait in all.</summary>
    public int Count { get; private set; }

    /// <summary>Adds one behind the others of its source.</summary>
    public void Enqueue(TSource source, T item)
    {
        if (!_bySource.TryGetValue(source, out Queue<T>? own))
        {
            _bySource.Add(source, own = new Queue<T>(1));
            _turns.Enqueue(source);
        }
        own.Enqueue(item);
        Count++;
    }

    /// <summary>
    /// Makes room for one of a source: the first of the source that has most waiting gives way, if it has two more than
    /// this one or above.
    /// </summary>
    /// <param name="source">The source that needs room.</param>
    /// <param name="displaced">The item that no longer waits; report that to its owner.</param>
    public bool TryDisplace(TSource source, [MaybeNullWhen(false)] out T displaced)
    {
        displaced = default;
        if (Count == 0)
            return false;
        int own = _bySource.TryGetValue(source, out Queue<T>? mine) ? mine.Count : 0;
        Queue<T> longest = _bySource.Values.MaxBy(q => q.Count)!;
        if (longest.Count < own + 2) // They would change places for nothing; and the longest keeps one, for its turn.
            return false;
        displaced = longest.Dequeue();
        Count--;
        return true;
    }

    /// <summary>Takes the first of the source whose turn it is; false when nothing waits.</summary>
    public bool TryDequeue([MaybeNullWhen(false)] out T item)
    {
        if (!_turns.TryDequeue(out TSource? source))
        {
            item = default;
            return false;
        }
        Queue<T> own = _bySource[source];
        item = own.Dequeue();
        Count--;
        if (own.Count != 0)
            _turns.Enqueue(source);
        else
            _bySource.Remove(source);
        return true;
    }
}
