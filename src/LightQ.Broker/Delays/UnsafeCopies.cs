namespace LightQ.Broker.Delays;

/// <summary>
/// Delayed batches of which the delivery, or a copy, was appended and may not be on the disk yet: until it is, the log
/// must keep them. Thread-safe.
/// </summary>
internal sealed class UnsafeCopies
{
    private readonly Lock _lock = new();
    private readonly Queue<(long Origin, long End)> _copies = new();

    /// <summary>A copy was appended.</summary>
    /// <param name="origin">The offset of the batch that it is of.</param>
    /// <param name="end">One behind its own last offset; not below that of the one before.</param>
    /// <param name="durable">One behind the last offset that is on the disk.</param>
    public void Add(long origin, long end, long durable)
    {
        lock (_lock)
        {
            Forget(durable);
            _copies.Enqueue((origin, end));
        }
    }

    /// <summary>
    /// The lowest offset of a batch whose copy is not on the disk; <see cref="long.MaxValue"/> for none.
    /// </summary>
    /// <param name="durable">
    /// Asked for one behind the last offset that is on the disk, if there is anything that may not be.
    /// </param>
    public long FirstOrigin(Func<long> durable)
    {
        lock (_lock)
        {
            if (_copies.Count == 0)
                return long.MaxValue;
            Forget(durable());
            return _copies.Count == 0 ? long.MaxValue : _copies.Min(c => c.Origin);
        }
    }

    private void Forget(long durable)
    {
        while (_copies.TryPeek(out (long Origin, long End) copy) && copy.End <= durable)
            _copies.Dequeue();
    }
}
