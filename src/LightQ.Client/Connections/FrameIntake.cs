using System.Buffers.Binary;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>
/// Parses received bytes in place: frames to the sink, and the batches of a Deliver frame as they arrive, without
/// waiting for its end.
/// </summary>
/// <remarks>
/// One thread at a time. A partial frame or batch is moved only when the rest of its block is too small for it; one
/// longer than a block gets a block of its own.
/// </remarks>
internal sealed class FrameIntake : IDisposable
{
    // Below this a receive would bring too little for its system call.
    private const int SmallestReceive = 32 * 1024;

    private readonly ReceiveBlockPool _pool;
    private readonly IFrameSink _sink;
    private ReceiveBlock _block;
    private int _start;
    private int _end;
    private uint _deliverStream;
    private int _deliverLeft;

    public FrameIntake(ReceiveBlockPool pool, IFrameSink sink)
    {
        _pool = pool;
        _sink = sink;
        _block = pool.Rent();
    }

    public int MaxFrameBytes { get; set; } = ProtocolLimits.HandshakeFrameBytes;

    /// <summary>Where the next receive goes; never empty.</summary>
    public Memory<byte> Room()
    {
        int pending = _end - _start;
        if (pending == 0)
            Restart();
        else if (_block.Bytes.Length - _start < Needed(pending))
            Move(pending, Needed(pending));
        return _block.Bytes.AsMemory(_end);
    }

    /// <summary>Says how many bytes were received into <see cref="Room"/> and hands out what is complete.</summary>
    /// <exception cref="ProtocolException">The bytes are not the protocol's.</exception>
    public void Received(int count)
    {
        _end += count;
        while (true)
        {
            ReadOnlySpan<byte> bytes = _block.Bytes.AsSpan(_start, _end - _start);
            if (_deliverLeft > 0)
            {
                if (!TakeBatches(bytes))
                    return;
                continue;
            }
            if (!FrameHeader.TryRead(bytes, MaxFrameBytes, out FrameHeader header))
                return;
            if (header.Type == FrameType.Deliver)
            {
                // A rest that is no batch would be waited for with the length of whatever comes next.
                if (header.BodyLength % BatchLayout.Alignment != 0)
                {
                    throw new ProtocolException(
                        ErrorCode.MalformedFrame,
                        $"A Deliver frame's {header.BodyLength} bytes are not whole batches."
                    );
                }

                _start += FrameHeader.Size;
                (_deliverStream, _deliverLeft) = (header.Stream, header.BodyLength);
                continue;
            }
            if (bytes.Length < header.Length)
                return;
            int body = _start + FrameHeader.Size;
            _start += header.Length;
            if (header.Type == FrameType.GroupDeliver)
                _sink.OnGroupDeliver(header, _block, body);
            else
                _sink.OnFrame(header, bytes[FrameHeader.Size..header.Length]);
        }
    }

    public void Dispose() => _block.Release();

    private bool TakeBatches(ReadOnlySpan<byte> bytes)
    {
        int taken = 0,
            last = 0,
            available = Math.Min(bytes.Length, _deliverLeft);
        while (available - taken >= sizeof(int))
        {
            int length = BinaryPrimitives.ReadInt32LittleEndian(bytes[taken..]);
            if (length < BatchLayout.HeaderSize || length % BatchLayout.Alignment != 0 || length > _deliverLeft - taken)
            {
                throw new ProtocolException(
                    ErrorCode.MalformedBatch,
                    $"A delivered batch cannot be {length} bytes long."
                );
            }

            if (length > available - taken)
                break;
            last = taken;
            taken += length;
        }
        if (taken == 0)
            return false;
        int start = _start;
        _start += taken;
        _deliverLeft -= taken;
        _sink.OnRun(_deliverStream, _block, start, taken, start + last);
        return true;
    }

    /// <summary>What the frame or batch at the front needs in all, as far as it is known yet.</summary>
    private int Needed(int pending)
    {
        ReadOnlySpan<byte> bytes = _block.Bytes.AsSpan(_start, pending);
        if (_deliverLeft > 0)
            return pending >= sizeof(int) ? BinaryPrimitives.ReadInt32LittleEndian(bytes) : BatchLayout.HeaderSize;
        return FrameHeader.TryRead(bytes, MaxFrameBytes, out FrameHeader header) ? header.Length : FrameHeader.Size;
    }

    private void Restart()
    {
        bool standard = _block.Bytes.Length == ReceiveBlock.StandardSize;
        if (standard && _block.IsExclusive)
            _start = _end = 0;
        else if (!standard || _block.Bytes.Length - _end < SmallestReceive)
            Replace(_pool.Rent(), 0);
    }

    private void Move(int pending, int needed)
    {
        if (_block.IsExclusive && needed <= _block.Bytes.Length)
        {
            Buffer.BlockCopy(_block.Bytes, _start, _block.Bytes, 0, pending);
            (_start, _end) = (0, pending);
        }
        else
        {
            Replace(_pool.Rent(needed), pending);
        }
    }

    private void Replace(ReceiveBlock next, int pending)
    {
        Buffer.BlockCopy(_block.Bytes, _start, next.Bytes, 0, pending);
        _block.Release();
        _block = next;
        (_start, _end) = (0, pending);
    }
}
