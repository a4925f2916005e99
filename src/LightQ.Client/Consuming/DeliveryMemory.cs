using LightQ.Client.Connections;

namespace LightQ.Client.Consuming;

/// <summary>
/// Keeps delivered runs in the blocks they were received in, unless that would keep too many blocks alive.
/// </summary>
/// <remarks>
/// Streams share blocks: a slow subscription with a small run in each of a thousand blocks would hold 256 MiB for a few
/// KiB. So beyond a bound its runs are copied together into blocks of its own. A consumer's partitions share it.
/// Guarded by the consumer's gate.
/// </remarks>
internal sealed class DeliveryMemory(ReceiveBlockPool pool, int creditBytes)
{
    private const int SpareBlocks = 8;

    // Four times what the credit fills.
    private readonly int _maxBlocks = SpareBlocks + (int)(4L * creditBytes / ReceiveBlock.StandardSize);
    private ReceiveBlock? _last;
    private ReceiveBlock? _own;
    private int _ownUsed;
    private int _blocks;

    /// <summary>How many blocks the runs that were not released yet keep alive, about.</summary>
    public int Blocks => _blocks;

    /// <summary>Keeps a run until it is released.</summary>
    public Delivery Take(Subscription source, ReceiveBlock block, int offset, int length)
    {
        if (_blocks >= _maxBlocks && block != _last)
            (block, offset) = Copy(block, offset, length);
        bool isFirst = block != _last;
        if (isFirst)
            _blocks++;
        _last = block;
        block.Retain();
        return new Delivery(source, block, offset, length, isFirst);
    }

    /// <summary>Lets go of a run; does nothing for a gap.</summary>
    public void Release(in Delivery delivery)
    {
        if (delivery.Block is not { } block)
            return;
        if (delivery.IsFirstOfBlock)
            _blocks--;
        block.Release();
    }

    /// <summary>Lets go of the block it copies into; nothing is taken any more.</summary>
    public void Close()
    {
        _own?.Release();
        (_own, _last) = (null, null);
    }

    private (ReceiveBlock Block, int Offset) Copy(ReceiveBlock block, int offset, int length)
    {
        if (_own is null || _own.Bytes.Length - _ownUsed < length)
        {
            _own?.Release();
            _own = pool.Rent(length);
            _ownUsed = 0;
        }
        Buffer.BlockCopy(block.Bytes, offset, _own.Bytes, _ownUsed, length);
        int at = _ownUsed;
        _ownUsed += length;
        return (_own, at);
    }
}
