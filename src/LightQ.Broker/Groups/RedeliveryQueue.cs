namespace LightQ.Broker.Groups;

/// <summary>Messages to redeliver: at once in the order of offsets, or at their time. Not thread-safe.</summary>
internal sealed class RedeliveryQueue
{
    private readonly PriorityQueue<RedeliveryRange, long> _ready = new();
    private readonly PriorityQueue<RedeliveryRange, long> _delayed = new();

    /// <summary>Ranges that can come now.</summary>
    public int ReadyCount => _ready.Count;

    /// <summary>Ranges that have to wait.</summary>
    public int DelayedCount => _delayed.Count;

    /// <summary>
    /// When the next delayed range may come, in unix microseconds; <see cref="long.MaxValue"/> when there is none.
    /// </summary>
    public long NextTime => _delayed.TryPeek(out _, out long time) ? time : long.MaxValue;

    /// <summary>The ranges, in no order.</summary>
    public IEnumerable<RedeliveryRange> All =>
        _ready.UnorderedItems.Concat(_delayed.UnorderedItems).Select(item => item.Element);

    /// <summary>Adds a range.</summary>
    public void Add(in RedeliveryRange range, long now)
    {
        if (range.NotBefore > now)
            _delayed.Enqueue(range, range.NotBefore);
        else
            _ready.Enqueue(range with { NotBefore = 0 }, range.First);
    }

    /// <summary>Makes ready what has waited for long enough.</summary>
    /// <returns>Whether there was anything.</returns>
    public bool Ripen(long now)
    {
        bool any = false;
        while (_delayed.TryPeek(out RedeliveryRange range, out long time) && time <= now)
        {
            _delayed.Dequeue();
            _ready.Enqueue(range with { NotBefore = 0 }, range.First);
            any = true;
        }
        return any;
    }

    /// <summary>Looks at the range with the lowest offset.</summary>
    public bool TryPeek(out RedeliveryRange range) => _ready.TryPeek(out range, out _);

    /// <summary>Takes the first messages of the range with the lowest offset.</summary>
    public void TakeFirst(int count)
    {
        RedeliveryRange range = _ready.Dequeue();
        if (count < range.Count)
        {
            _ready.Enqueue(
                range with
                {
                    First = range.First + count,
                    Count = range.Count - count,
                },
                range.First + count
            );
        }
    }

    /// <summary>Forgets everything.</summary>
    public void Clear()
    {
        _ready.Clear();
        _delayed.Clear();
    }
}
