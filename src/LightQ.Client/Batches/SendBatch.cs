using System.Buffers.Binary;
using System.Diagnostics;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;

namespace LightQ.Client.Batches;

/// <summary>
/// One batch from its first record to its ack: the bytes, with the frame's header in front, and the callers that wait
/// for it.
/// </summary>
/// <remarks>
/// <code>
///  0             16             112 or more
///  +-------------+--------------+---------+---------+
///  | frame header| batch header | records | padding |
///  +-------------+--------------+---------+---------+
/// </code>
/// Filled under its producer's gate (or by a builder's one thread), completed by the sender, resolved by the receiving
/// thread. As a work item it completes its waiters on the thread pool.
/// </remarks>
internal sealed class SendBatch : IThreadPoolWorkItem
{
    private readonly SendBatchPool _pool;
    private byte[] _buffer = [];
    private int _recordsStart = FrameHeader.Size + BatchLayout.HeaderSize;
    private int _payloadBytes;
    private int _taken;
    private PublishCompletion? _firstWaiter;
    private PublishCompletion? _lastWaiter;
    private int _waiterCount;
    private int _executors;
    private int _holds = 1;
    private ErrorCode _error;
    private string _errorMessage = "";
    private PublishAck _ack;

    public SendBatch(SendBatchPool pool) => _pool = pool;

    /// <summary>Largest batch it can hold.</summary>
    public int BatchBytes => _buffer.Length - FrameHeader.Size;

    public int RecordBytes { get; private set; }

    public int Count { get; private set; }

    /// <summary>Unix microseconds when its first record was added.</summary>
    public long Timestamp { get; private set; }

    /// <summary>
    /// The clock's stamp of when it was begun, or queued as a whole, for measurements; 0 when nothing was measured
    /// then.
    /// </summary>
    public long StartedAt { get; set; }

    /// <summary>The contexts that its messages carry, as far as they are known; null for none.</summary>
    public List<ActivityLink>? Links { get; private set; }

    /// <summary>When its messages are due and when they expire.</summary>
    public BatchProperties Properties { get; private set; }

    /// <summary>The batch's length: now while it is being filled, finally, perhaps shorter, once completed.</summary>
    public int Length =>
        BatchLayout.Align(_recordsStart - FrameHeader.Size + (IsCompleted ? _payloadBytes : RecordBytes));

    /// <summary>Bytes that the producer counts for it against its limits.</summary>
    public int Charge { get; set; }

    public ulong BaseSequence { get; set; }

    /// <summary>Whether header and checksums are in place; a batch that is sent again keeps its payload's.</summary>
    public bool IsCompleted { get; private set; }

    /// <summary>Whether every record has a caller that will learn of its outcome.</summary>
    public bool IsFullyAwaited => _waiterCount == Count || (_waiterCount == 1 && _lastWaiter!.Count == Count);

    /// <summary>Whether each caller waits for one message, so that other batches may take them.</summary>
    public bool IsDivisible => !IsCompleted && (_lastWaiter is null || _lastWaiter.Count == 1);

    /// <summary>The whole frame, once completed.</summary>
    public ArraySegment<byte> Frame => new(_buffer, 0, FrameHeader.Size + Length);

    /// <summary>The batch without the frame's header, once completed.</summary>
    public ArraySegment<byte> Bytes => new(_buffer, FrameHeader.Size, Length);

    /// <summary>
    /// Whether its bytes are kept until the ack, to be sent again if need be; otherwise only until they are sent.
    /// </summary>
    public bool IsRepeatable { get; set; }

    /// <summary>Has its frame's header count what follows in the same frame.</summary>
    public void SetFrameLength(int length) => BinaryPrimitives.WriteInt32LittleEndian(_buffer, length);

    /// <summary>Gives an empty batch its memory and its times.</summary>
    public void Attach(byte[] buffer, in BatchProperties properties)
    {
        _buffer = buffer;
        Properties = properties;
        _recordsStart = FrameHeader.Size + properties.HeaderLength;
    }

    /// <summary>Whether a record of so many bytes can be added.</summary>
    public bool Fits(int recordLength) => recordLength <= _buffer.Length - _recordsStart - RecordBytes;

    public bool TryAdd(ReadOnlySpan<byte> body)
    {
        int at = _recordsStart + RecordBytes;
        if (body.Length > _buffer.Length - at - RecordLayout.FixedSize)
            return false;
        RecordBytes += RecordWriter.Write(_buffer.AsSpan(at), body);
        if (Count++ == 0)
            Timestamp = _pool.Now;
        return true;
    }

    public bool TryAdd(ReadOnlySpan<byte> body, in MessageKey key, MessageHeaders? headers)
    {
        ReadOnlySpan<byte> encoded = headers is null ? default : headers.Encoded;
        int at = _recordsStart + RecordBytes;
        if ((long)body.Length + key.ByteCount + encoded.Length > _buffer.Length - at - RecordLayout.FixedSize)
            return false;
        RecordBytes += WriteRecord(_buffer.AsSpan(at), body, key, encoded);
        if (Count++ == 0)
            Timestamp = _pool.Now;
        return true;
    }

    /// <summary>Adds a record that is encoded already.</summary>
    public bool TryAddEncoded(ReadOnlySpan<byte> record)
    {
        int at = _recordsStart + RecordBytes;
        if (record.Length > _buffer.Length - at)
            return false;
        record.CopyTo(_buffer.AsSpan(at));
        RecordBytes += record.Length;
        if (Count++ == 0)
            Timestamp = _pool.Now;
        return true;
    }

    /// <summary>Writes a record with its key straight from text, without a copy of it.</summary>
    public static int WriteRecord(
        Span<byte> destination,
        ReadOnlySpan<byte> body,
        in MessageKey key,
        ReadOnlySpan<byte> headers
    )
    {
        BinaryPrimitives.WriteUInt32LittleEndian(
            destination,
            key.IsBuried ? RecordLayout.Tombstone : (uint)body.Length
        );
        BinaryPrimitives.WriteUInt16LittleEndian(
            destination[4..],
            key.HasValue ? (ushort)key.ByteCount : (ushort)RecordLayout.NoKey
        );
        BinaryPrimitives.WriteUInt16LittleEndian(destination[6..], (ushort)headers.Length);
        Span<byte> rest = destination[RecordLayout.FixedSize..];
        key.CopyTo(rest);
        headers.CopyTo(rest[key.ByteCount..]);
        body.CopyTo(rest[(key.ByteCount + headers.Length)..]);
        return RecordLayout.FixedSize + key.ByteCount + headers.Length + body.Length;
    }

    /// <summary>
    /// Takes the records of a batch that is not completed, one after the other, with the callers that wait for them.
    /// </summary>
    /// <param name="index">Which one: from 0 on.</param>
    /// <param name="record">Its bytes.</param>
    /// <param name="waiter">Who waits for it; null for nobody.</param>
    /// <returns>Whether there is one.</returns>
    public bool TryTakeRecord(int index, out ReadOnlySpan<byte> record, out PublishCompletion? waiter)
    {
        if (index == 0)
            _taken = 0;
        record = default;
        waiter = null;
        if (index >= Count)
            return false;
        ReadOnlySpan<byte> rest = _buffer.AsSpan(_recordsStart + _taken, RecordBytes - _taken);
        record = rest[..LengthOf(rest)];
        _taken += record.Length;
        if (_firstWaiter is { } first && first.Index == index)
        {
            _firstWaiter = first.Next;
            first.Next = null;
            waiter = first;
        }
        return true;
    }

    /// <summary>Remembers the context that the record added last carries.</summary>
    public void Link(ActivityContext context)
    {
        Links ??= [];
        if (Links.Count < TraceContext.MaxLinks)
            Links.Add(new ActivityLink(context));
    }

    /// <summary>
    /// Registers the caller that waits for the record added last, or for all <paramref name="count"/> records.
    /// </summary>
    public void AddWaiter(PublishCompletion waiter, int count = 1)
    {
        waiter.Index = Count - count;
        waiter.Count = count;
        if (_lastWaiter is null)
            _firstWaiter = waiter;
        else
            _lastWaiter.Next = waiter;
        _lastWaiter = waiter;
        _waiterCount++;
    }

    /// <summary>
    /// Compresses, writes headers and checksums. For a batch that is sent again only what changed: stream, epoch,
    /// sequence, header checksum.
    /// </summary>
    /// <param name="stream">On which stream it goes.</param>
    /// <param name="producerId">Of the producer.</param>
    /// <param name="producerEpoch">Likewise.</param>
    /// <param name="hasBrokerClock">
    /// Whether the broker takes times that count from the append; otherwise they count from the first message.
    /// </param>
    /// <param name="compressor">Compresses; null for none.</param>
    public void Complete(
        uint stream,
        ulong producerId,
        uint producerEpoch,
        bool hasBrokerClock = true,
        Compressor? compressor = null
    )
    {
        Span<byte> batch = _buffer.AsSpan(FrameHeader.Size);
        int headerLength = Properties.HeaderLength;
        if (!hasBrokerClock)
            Properties = Properties.CountedFrom(Timestamp);
        if (!IsCompleted)
        {
            int payloadBytes = compressor?.Compress(batch.Slice(headerLength, RecordBytes)) ?? RecordBytes;
            BatchCodec codec = payloadBytes == RecordBytes ? BatchCodec.None : compressor!.Codec;
            BatchWriter.Complete(
                batch,
                payloadBytes,
                Count,
                RecordBytes,
                codec,
                Properties,
                new BatchOrigin(producerId, producerEpoch, BaseSequence),
                Timestamp
            );
            _payloadBytes = payloadBytes;
            IsCompleted = true;
        }
        else
        {
            Span<byte> header = batch[..headerLength];
            if (!hasBrokerClock && (new BatchView(header).Flags & BatchLayout.HasRelativeTimes) != 0)
                BatchWriter.MakeAbsolute(header, Timestamp);
            BinaryPrimitives.WriteUInt64LittleEndian(header[BatchLayout.BaseSequence..], BaseSequence);
            BinaryPrimitives.WriteUInt32LittleEndian(header[BatchLayout.ProducerEpoch..], producerEpoch);
            BinaryPrimitives.WriteUInt32LittleEndian(
                header[BatchLayout.HeaderCrc..],
                BatchView.ComputeHeaderCrc(header)
            );
        }
        new FrameHeader(FrameHeader.Size + Length, FrameType.Publish, 0, stream, 0).Write(_buffer);
    }

    /// <summary>Hands the ack to the waiters, on the thread pool, and the batch back to its pool after that.</summary>
    public void Resolve(in PublishAck ack)
    {
        _error = ErrorCode.None;
        _ack = ack;
        Dispatch();
    }

    /// <summary>
    /// Hands a failure to the waiters, on the thread pool, and the batch back to its pool after that.
    /// </summary>
    public void Reject(ErrorCode error, string message)
    {
        Debug.Assert(error != ErrorCode.None, "A rejection needs a code.");
        (_error, _errorMessage) = (error, message);
        Dispatch();
    }

    /// <summary>How long a message is as a record, or longer than any when it is too long for one.</summary>
    public static int RecordLength(int bodyLength, in MessageKey key, MessageHeaders? headers) =>
        (int)
            Math.Min(
                int.MaxValue,
                RecordLayout.FixedSize
                    + key.ByteCount
                    + (headers is null ? 0 : headers.Encoded.Length)
                    + (long)bodyLength
            );

    /// <summary>
    /// Keeps the memory while it is being sent: an ack or a failure may come before the send returns.
    /// </summary>
    public void Hold() => Interlocked.Increment(ref _holds);

    /// <summary>
    /// Ends the hold of the sender. What is never sent again gives its memory back at once: a few hot buffers then
    /// serve a whole window.
    /// </summary>
    public void EndSend()
    {
        if (!IsRepeatable)
            ReturnBuffer();
        Release();
    }

    /// <summary>
    /// Ends a hold, or drops a batch without an outcome, for which no caller may wait. The last one recycles the batch.
    /// </summary>
    public void Release()
    {
        if (Interlocked.Decrement(ref _holds) != 0)
            return;
        _holds = 1;
        ReturnBuffer();
        (_firstWaiter, _lastWaiter, _waiterCount) = (null, null, 0);
        (RecordBytes, Count, Charge, StartedAt) = (0, 0, 0, 0);
        (IsCompleted, Links) = (false, null);
        _pool.Return(this);
    }

    void IThreadPoolWorkItem.Execute()
    {
        bool asked = false;
        while (Volatile.Read(ref _firstWaiter) is { } waiter)
        {
            // If someone else takes the waiter meanwhile, its link may already be the pool's, but then the exchange
            // fails: a waiter never comes back to the front.
            PublishCompletion? next = waiter.Next;
            if (Interlocked.CompareExchange(ref _firstWaiter, next, waiter) != waiter)
                continue;
            if (!asked && next is not null)
            {
                // A continuation may block on another message of this very batch: someone else must be able to go on.
                asked = true;
                Interlocked.Increment(ref _executors);
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: true);
            }
            if (_error == ErrorCode.None)
                waiter.Complete(_ack with { Offset = _ack.Offset + waiter.Index, Count = waiter.Count });
            else
                waiter.Fail(new LightQException(_error, _errorMessage));
        }
        if (Interlocked.Decrement(ref _executors) == 0)
            Release();
    }

    private static int LengthOf(ReadOnlySpan<byte> record)
    {
        uint body = BinaryPrimitives.ReadUInt32LittleEndian(record);
        int key = BinaryPrimitives.ReadUInt16LittleEndian(record[4..]);
        return RecordLayout.FixedSize
            + (key == RecordLayout.NoKey ? 0 : key)
            + BinaryPrimitives.ReadUInt16LittleEndian(record[6..])
            + (body == RecordLayout.Tombstone ? 0 : (int)body);
    }

    private void Dispatch()
    {
        if (_waiterCount == 0)
        {
            Release();
            return;
        }
        _executors = 1;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    private void ReturnBuffer()
    {
        if (_buffer.Length > 0)
            _pool.ReturnBuffer(_buffer);
        _buffer = [];
    }
}
