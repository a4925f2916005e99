using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Batches;

/// <summary>Batches, and buffers of two sizes for them, for reuse; the most recently used first. Thread-safe.</summary>
internal sealed class SendBatchPool
{
    // As many as may be in flight; without their buffers they are small.
    private const int MaxBatchesKept = 4096;

    /// <summary>The size of batches that hold one short message, which has an id.</summary>
    public const int SmallBatchBytes = 1024;

    private readonly TimeProvider _time;
    private readonly int _maxBuffersKept;
    private readonly Lock _gate = new();
    private readonly Stack<byte[]> _buffers = new(),
        _smallBuffers = new();
    private readonly Stack<SendBatch> _batches = new();

    /// <param name="batchBytes">The size of ordinary batches.</param>
    /// <param name="maxBuffersKept">How many buffers of that size wait for reuse at most.</param>
    /// <param name="time">The clock.</param>
    /// <param name="startsSmall">See <see cref="StartsSmall"/>.</param>
    public SendBatchPool(int batchBytes, int maxBuffersKept, TimeProvider time, bool startsSmall = false)
    {
        StartsSmall = startsSmall;
        _time = time;
        BatchBytes = batchBytes;
        _maxBuffersKept = maxBuffersKept;
    }

    /// <summary>The size of its batches.</summary>
    public int BatchBytes { get; }

    /// <summary>
    /// Whether a batch that nothing is in front of has little memory: it is sent at once, and of many topics that get a
    /// message now and then each would have a whole one.
    /// </summary>
    public bool StartsSmall { get; }

    /// <summary>The time now, in Unix microseconds.</summary>
    public long Now => UnixMicroseconds.From(_time.GetUtcNow());

    /// <summary>An empty batch that holds at least <paramref name="minimum"/> bytes, header included.</summary>
    public SendBatch Rent(int minimum = 0, in BatchProperties properties = default)
    {
        SendBatch? batch;
        byte[]? buffer = null;
        bool isSmall = (properties.MessageId is not null || StartsSmall) && minimum is > 0 and <= SmallBatchBytes;
        lock (_gate)
        {
            _batches.TryPop(out batch);
            if (isSmall)
                _smallBuffers.TryPop(out buffer);
            else if (minimum <= BatchBytes)
                _buffers.TryPop(out buffer);
        }
        batch ??= new SendBatch(this);
        batch.Attach(
            buffer
                ?? GC.AllocateUninitializedArray<byte>(
                    FrameHeader.Size + (isSmall ? SmallBatchBytes : BatchLayout.Align(Math.Max(minimum, BatchBytes))),
                    pinned: true
                ),
            properties
        );
        return batch;
    }

    public void Return(SendBatch batch)
    {
        lock (_gate)
        {
            if (_batches.Count < MaxBatchesKept)
                _batches.Push(batch);
        }
    }

    public void ReturnBuffer(byte[] buffer)
    {
        bool isSmall = buffer.Length == FrameHeader.Size + SmallBatchBytes;
        if (!isSmall && buffer.Length != FrameHeader.Size + BatchLayout.Align(BatchBytes))
            return;
        lock (_gate)
        {
            if (isSmall && _smallBuffers.Count < MaxBatchesKept)
                _smallBuffers.Push(buffer);
            else if (!isSmall && _buffers.Count < _maxBuffersKept)
                _buffers.Push(buffer);
        }
    }
}
