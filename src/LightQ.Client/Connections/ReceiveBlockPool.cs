namespace LightQ.Client.Connections;

/// <summary>
/// Keeps receive blocks for reuse, the most recently used first: it is the one most likely still in the cache.
/// Thread-safe.
/// </summary>
internal sealed class ReceiveBlockPool
{
    private const int MaxKept = 32;

    private readonly Lock _gate = new();
    private readonly Stack<ReceiveBlock> _free = new();

    /// <summary>
    /// A block of at least <paramref name="minimum"/> bytes on which the caller holds the only reference.
    /// </summary>
    public ReceiveBlock Rent(int minimum = ReceiveBlock.StandardSize)
    {
        ReceiveBlock? block = null;
        if (minimum <= ReceiveBlock.StandardSize)
        {
            lock (_gate)
                _free.TryPop(out block);
        }
        block ??= new ReceiveBlock(this, Math.Max(minimum, ReceiveBlock.StandardSize));
        block.Retain();
        return block;
    }

    public void Return(ReceiveBlock block)
    {
        if (block.Bytes.Length != ReceiveBlock.StandardSize)
            return;
        lock (_gate)
        {
            if (_free.Count < MaxKept)
                _free.Push(block);
        }
    }
}
