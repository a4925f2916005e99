using System.Collections.Concurrent;

namespace LightQ.Server.DataPlane;

/// <summary>Pinned blocks of one size, lent to connections that have something to read or write. Idle connections hold none.</summary>
internal sealed class BlockPool(int blockBytes, int kept)
{
    private readonly ConcurrentStack<byte[]> _free = new();
    private int _count;

    /// <summary>Bytes of a block.</summary>
    public int BlockBytes => blockBytes;

    /// <summary>Lends a block; its content is arbitrary.</summary>
    public byte[] Rent()
    {
        if (!_free.TryPop(out byte[]? block))
            return GC.AllocateUninitializedArray<byte>(blockBytes, pinned: true);
        Interlocked.Decrement(ref _count);
        return block;
    }

    /// <summary>Takes a block back; one of another size, or too many, are left to the collector.</summary>
    public void Return(byte[] block)
    {
        if (block.Length != blockBytes)
            return;
        if (Interlocked.Increment(ref _count) > kept)
            Interlocked.Decrement(ref _count);
        else
            _free.Push(block);
    }
}
