namespace LightQ.Client.Publishing;

/// <summary>
/// What is published before its producer is open. The producer gets it in the order of the calls, before anything that
/// is published later: while one of them waits, later ones wait behind it.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class EarlyPublishes
{
    private readonly Lock _gate = new();
    private readonly Queue<EarlyPublish> _waiting;
    private Producer? _ready;
    private bool _hasEnded;

    public EarlyPublishes() => _waiting = new();

    /// <summary>With those that another producer left.</summary>
    public EarlyPublishes(IEnumerable<EarlyPublish> waiting) => _waiting = new(waiting);

    /// <summary>The producer, once it has all that was published before; null until then.</summary>
    public Producer? Ready => Volatile.Read(ref _ready);

    /// <summary>Has a message wait; false when it need not, or when nothing is waited for any more.</summary>
    public bool TryAdd(EarlyPublish message)
    {
        lock (_gate)
        {
            if (_ready is not null || _hasEnded)
                return false;
            _waiting.Enqueue(message);
            return true;
        }
    }

    /// <summary>
    /// Gives the producer what waits, until nothing does and it is <see cref="Ready"/>. Called once. False when a
    /// producer that <paramref name="mayLeave"/> messages to another takes none any more: they still wait.
    /// </summary>
    public bool TryOpen(Producer producer, bool mayLeave)
    {
        while (true)
        {
            EarlyPublish? next;
            lock (_gate)
            {
                if (!_waiting.TryPeek(out next))
                {
                    Volatile.Write(ref _ready, producer);
                    return true;
                }
            }
            if (!next.TryPublish(producer, mayLeave))
                return false;
            lock (_gate)
                _waiting.Dequeue();
        }
    }

    /// <summary>What waits, which is the caller's now; no more is taken.</summary>
    public EarlyPublish[] End()
    {
        lock (_gate)
        {
            _hasEnded = true;
            EarlyPublish[] left = [.. _waiting];
            _waiting.Clear();
            return left;
        }
    }
}
