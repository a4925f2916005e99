using System.Collections.Concurrent;
using System.Collections.Immutable;
using LightQ.Broker.Topics;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Which topics have others keep their dead letters, by the names of those: rights on names that begin alike reach
/// such a topic only with all whose letters it keeps. One writer at a time; read by any thread.
/// </summary>
/// <remarks>What is called <c>orders.dead</c> belongs to <c>orders</c> by its name, and is not here.</remarks>
internal sealed class LetterOwners
{
    private readonly ConcurrentDictionary<string, ImmutableHashSet<string>> _byKeeper = new(StringComparer.Ordinal);

    /// <summary>The topics that named another for their letters; none for most.</summary>
    public IReadOnlySet<string> Of(string topic) =>
        _byKeeper.GetValueOrDefault(topic) ?? ImmutableHashSet<string>.Empty;

    /// <summary>A topic is there, or its settings are others.</summary>
    /// <param name="topic">Its name.</param>
    /// <param name="before">What it had; null for a new one.</param>
    /// <param name="after">What it has; null when it is gone.</param>
    /// <returns>Whether rights may have changed with it.</returns>
    public bool Change(string topic, TopicSettings? before, TopicSettings? after)
    {
        string from = before?.Delivery.DeadLetterTopic ?? "",
            to = after?.Delivery.DeadLetterTopic ?? "";
        if (from == to)
            return false;
        if (from.Length != 0 && _byKeeper.TryGetValue(from, out ImmutableHashSet<string>? owners))
        {
            owners = owners.Remove(topic);
            if (owners.IsEmpty)
                _byKeeper.TryRemove(from, out _);
            else
                _byKeeper[from] = owners;
        }
        if (to.Length != 0)
            _byKeeper[to] = (_byKeeper.GetValueOrDefault(to) ?? []).Add(topic);
        return true;
    }
}
