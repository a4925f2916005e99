using System.Diagnostics;

namespace LightQ.Client.Connections;

/// <summary>
/// A piece of pinned memory that a connection receives into. Delivered batches are read from it in place, so it is
/// counted: the connection holds one reference while it fills the block, every run handed to a consumer holds one more.
/// </summary>
internal sealed class ReceiveBlock
{
    public const int StandardSize = 256 * 1024;

    private readonly ReceiveBlockPool _pool;
    private int _references;

    public ReceiveBlock(ReceiveBlockPool pool, int size)
    {
        _pool = pool;
        Bytes = GC.AllocateUninitializedArray<byte>(size, pinned: true);
    }

    public byte[] Bytes { get; }

    /// <summary>
    /// Whether only the caller holds a reference; then no other code reads the block, and it may be overwritten.
    /// </summary>
    public bool IsExclusive => Volatile.Read(ref _references) == 1;

    public void Retain() => Interlocked.Increment(ref _references);

    public void Release()
    {
        int left = Interlocked.Decrement(ref _references);
        Debug.Assert(left >= 0, "A block was released more often than retained.");
        if (left == 0)
            _pool.Return(this);
    }
}
