using System.Diagnostics.CodeAnalysis;

namespace LightQ.Server.Transport;

/// <summary>
/// Pinned blocks of one size, lent to connections that have something to read or write. Idle connections hold none.
/// Thread-safe.
/// </summary>
/// <remarks>An array under a lock: a lock-free stack allocates a node for every block that comes back.</remarks>
internal sealed class BlockPool(int blockBytes, int kept)
{
    private readonly Lock _lock = new();
    private readonly byte[]?[] _free = new byte[]?[kept];
    private int _count;
    private int _lent;

    /// <summary>Bytes of a block.</summary>
    public int BlockBytes => blockBytes;

    /// <summary>How many are lent. Any thread, and only about.</summary>
    public int Lent => Volatile.Read(ref _lent);

    /// <summary>Lends a block; its content is arbitrary.</summary>
    public byte[] Rent()
    {
        lock (_lock)
        {
            _lent++;
            if (_count > 0)
            {
                byte[] block = _free[--_count]!;
                _free[_count] = null;
                return block;
            }
        }
        return GC.AllocateUninitializedArray<byte>(blockBytes, pinned: true);
    }

    /// <summary>
    /// Sees that a reader can receive: lends a block, or moves the unread rest of a frame to the front of it, or of one
    /// twice as large.
    /// </summary>
    /// <param name="block">The reader's block; null for none yet.</param>
    /// <param name="start">Where its unread bytes begin.</param>
    /// <param name="end">Where they end, and the room begins.</param>
    /// <param name="least">How much room there must be.</param>
    public void MakeRoom([NotNull] ref byte[]? block, ref int start, ref int end, int least)
    {
        block ??= Rent();
        if (block.Length - end >= least)
            return;
        int unread = end - start;
        byte[] target =
            block.Length - unread >= least
                ? block
                : GC.AllocateUninitializedArray<byte>(block.Length * 2, pinned: true);
        Buffer.BlockCopy(block, start, target, 0, unread);
        if (target != block)
            Return(block);
        (block, start, end) = (target, 0, unread);
    }

    /// <summary>Gives the blocks that are not in use to the garbage collector.</summary>
    public void Trim()
    {
        lock (_lock)
        {
            Array.Clear(_free, 0, _count);
            _count = 0;
        }
    }

    /// <summary>Takes a block back; one of another size, or too many, are left to the collector.</summary>
    public void Return(byte[] block)
    {
        if (block.Length != blockBytes)
            return;
        lock (_lock)
        {
            _lent--;
            if (_count < kept)
                _free[_count++] = block;
        }
    }

    /// <summary>A block does not come back: something may still use it, and so it is left to the collector.</summary>
    public void Forget()
    {
        lock (_lock)
            _lent--;
    }
}
