using System.Buffers;
using LightQ.Protocol.Frames;
using LightQ.Server.Limits;
using LightQ.Server.Transport;

namespace LightQ.Server.DataPlane;

/// <summary>
/// The frame of a connection that has begun to arrive: since when, how much of it is there, and what is set aside for
/// it, if it is a long one or blocks are scarce.
/// </summary>
/// <remarks>
/// The reading thread moves it, once for each receive; housekeeping only asks whether the frame is too slow.
/// </remarks>
internal sealed class FrameAssembly(ServerLimits limits, BodyAccount account, DataPlaneBlocks blocks, TimeProvider time)
{
    private long _began;
    private long _arrived;
    private long _length; // 0 while it is not known.
    private bool _isCounted;
    private volatile bool _waits;

    /// <summary>Whether a frame has begun and is not whole.</summary>
    public bool IsWaiting => _waits;

    /// <summary>Something was received: until it is handled, the broker does not wait for the peer.</summary>
    public void Pause() => _waits = false;

    /// <summary>What was received is handled.</summary>
    /// <param name="left">The beginning of the next frame.</param>
    /// <param name="isNew">
    /// Whether a frame was taken before it, so that this is another than at the last receive.
    /// </param>
    /// <param name="frames">Reads how long it will be.</param>
    /// <returns>Why there is no room for it; null when there is.</returns>
    public string? Continue(in ReadOnlySequence<byte> left, bool isNew, FrameReader frames)
    {
        if (isNew || left.IsEmpty)
            End();
        if (left.IsEmpty)
            return null;
        if (_began == 0)
            _began = time.GetTimestamp();
        _arrived = left.Length;
        bool isNewlyKnown = false;
        if (_length == 0 && frames.TryReadHeader(left, out FrameHeader header))
            (isNewlyKnown, _length) = (true, header.Length);
        bool isLong = _length > DataPlaneBlocks.ReceiveBytes;
        if ((isLong && isNewlyKnown) || (!isLong && blocks.AreScarce))
        {
            _isCounted = true;
            if (!account.TrySet(isLong ? _length : BlockOf(left.Length), out string? found))
                return found;
        }
        _waits = true;
        return null;
    }

    /// <summary>
    /// The block that holds so much, and what comes with it, where large ones are scarce. A small one is exchanged when
    /// three quarters are full, at the earliest.
    /// </summary>
    private long BlockOf(long bytes)
    {
        long small = blocks.Greeting.BlockBytes;
        return bytes <= small / 4 * 3 ? small : DataPlaneBlocks.ReceiveBytes;
    }

    /// <summary>The frame is whole, or will never be.</summary>
    public void End()
    {
        _waits = false;
        (_began, _length) = (0, 0);
        if (!_isCounted)
            return;
        _isCounted = false;
        account.Clear();
    }

    /// <summary>Whether the peer sends it more slowly than it may.</summary>
    /// <param name="bytesPerSecond">How fast it is.</param>
    public bool IsTooSlow(out long bytesPerSecond)
    {
        bytesPerSecond = 0;
        int least = limits.DataPlane.MinFrameBytesPerSecond;
        if (least == 0 || !_waits)
            return false;
        TimeSpan taken = time.GetElapsedTime(Volatile.Read(ref _began));
        if (taken <= limits.DataPlane.FrameGrace)
            return false;
        bytesPerSecond = (long)(Volatile.Read(ref _arrived) / taken.TotalSeconds);
        return bytesPerSecond < least && _waits;
    }
}
