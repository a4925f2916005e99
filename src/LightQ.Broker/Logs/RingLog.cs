using System.Buffers;
using LightQ.Disruptor;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>
/// A transient topic's log: the ring is all there is. The oldest batch is overwritten unless a reader holds it.
/// </summary>
internal sealed class RingLog : ITopicLog
{
    private readonly Lock _appendLock;
    private readonly RingMemory _memory;
    private YieldingReader[] _yielding = [];
    private long _endOffset;
    private uint _previousCrc;
    private bool _isClosed;

    /// <summary>Makes an empty log.</summary>
    /// <param name="ringBytes">A power of two; at least four times <paramref name="maxBatchBytes"/>.</param>
    /// <param name="maxBatchBytes">The largest batch.</param>
    /// <param name="incarnation">The log's incarnation.</param>
    /// <param name="appendLock">The lock that the appending thread holds.</param>
    public RingLog(int ringBytes, int maxBatchBytes, ulong incarnation, Lock appendLock)
    {
        _appendLock = appendLock;
        _memory = RingMemory.Native(ringBytes);
        Ring = new ByteRing(_memory, maxBatchBytes);
        Incarnation = incarnation;
    }

    public long StartOffset
    {
        get
        {
            lock (_appendLock)
                return _isClosed ? _endOffset : OffsetAt(Ring.Tail);
        }
    }

    public long EndOffset => Volatile.Read(ref _endOffset);

    public long DurableOffset => 0;

    public long ReadableOffset => EndOffset;

    public long EndPosition => Ring.Published;

    public ulong Incarnation { get; }

    public uint Epoch => 1;

    public long StoredBytes => Ring.TouchedBytes;

    public Durability MaxDurability => Durability.Memory;

    public string? Failure => null;

    public bool IsDiskFull => false;

    public IEnumerable<JournalDamage> Damage => [];

    internal ByteRing Ring { get; }

    public long EndOfEpoch(uint epoch) => EndOffset;

    public AppendResult TryAppend(ReadOnlySpan<byte> batch, long appendTime, out long baseOffset, uint user = 0)
    {
        if (
            Ring.TryClaim(batch.Length, out RingClaim claim) != ClaimResult.Claimed
            && !(TryMakeRoom(batch.Length) && Ring.TryClaim(batch.Length, out claim) == ClaimResult.Claimed)
        )
        {
            baseOffset = -1;
            return AppendResult.Full;
        }
        Span<byte> entry = claim.Span;
        batch.CopyTo(entry);
        baseOffset = _endOffset;
        _previousCrc = BatchWriter.Stamp(
            entry,
            new BatchStamp(baseOffset, appendTime, Epoch, _previousCrc, 0, User: user)
        );
        Volatile.Write(ref _endOffset, baseOffset + new BatchView(entry).RecordCount);
        Ring.Publish(claim);
        return AppendResult.Appended;
    }

    public void Flush() { }

    public long PositionOf(Durability durability) => durability == Durability.Memory ? Ring.Published : -1;

    public void NotifyWritten()
    {
        // A ring has nothing beyond memory.
    }

    public LogReader OpenReader(StartKind start, long value, bool holds, Action ready)
    {
        lock (_appendLock)
        {
            Sequence? gate = holds ? new Sequence(Ring.Tail) : null;
            long position = gate is null ? Ring.Tail : Ring.AddGate(gate, Ring.Tail);
            LogCursor cursor = Find(position, start, value);
            if (gate is not null)
                gate.Value = cursor.Position;
            return new RingLogReader(this, gate, cursor);
        }
    }

    /// <summary>
    /// Puts a reader that yields in its place; what it has not read is asked for when the room is needed.
    /// </summary>
    internal void Open(YieldingReader reader, StartKind start, long value)
    {
        lock (_appendLock)
        {
            reader.Start(Find(Ring.AddGate(reader.Gate, Ring.Tail), start, value));
            _yielding = [.. _yielding, reader];
        }
    }

    /// <summary>Takes a reader off; no error when it is.</summary>
    internal void Close(YieldingReader reader)
    {
        lock (_appendLock)
        {
            _yielding = [.. _yielding.Where(r => r != reader)];
            Ring.RemoveGate(reader.Gate);
        }
    }

    /// <summary>Has a reader go on at the end.</summary>
    /// <returns>Where it stood.</returns>
    internal LogCursor SkipToEnd(YieldingReader reader, out LogCursor end)
    {
        lock (_appendLock)
        {
            end = new LogCursor(_endOffset, Ring.Published);
            return reader.SkipTo(end);
        }
    }

    public long Truncate(long beforeOffset)
    {
        // The ring reuses its memory by itself: a truncation would free nothing.
        throw new BrokerException(
            ErrorCode.NotSupported,
            "A transient topic cannot be truncated: its ring overwrites the oldest messages by itself."
        );
    }

    public void SetRetention(long bytes, TimeSpan age)
    {
        // The ring keeps what fits.
    }

    /// <summary>The times of the batch at a place, or of the first held behind it.</summary>
    /// <param name="at">
    /// The place; its position is -1 where only the offset is known, and then the ring is walked.
    /// </param>
    /// <param name="end">One behind the batch's last offset.</param>
    /// <returns>Null when there is none.</returns>
    public BatchTimes? FindTimes(in LogCursor at, out long end)
    {
        lock (_appendLock)
        {
            end = _endOffset;
            if (_isClosed)
                return null; // The topic is deleted, and its memory freed.
            long position =
                at.Position >= 0 && Ring.IsIntact(at.Position)
                    ? at.Position
                    : Find(Ring.Tail, StartKind.Offset, at.Offset).Position;
            if (!Ring.TryGetRun(position, 1, out RingRun run))
                return null;
            var batch = new BatchView(run.Span);
            end = batch.NextOffset;
            return BatchTimes.Of(batch);
        }
    }

    /// <summary>A place to read from for a reader that may outlive the topic; null when that is deleted.</summary>
    internal LogCursor? FindCursor(StartKind start, long value)
    {
        lock (_appendLock)
            return _isClosed ? null : Find(Ring.Tail, start, value);
    }

    /// <summary>Copies what is at a place, for a reader that holds nothing and may outlive the topic.</summary>
    /// <param name="cursor">The place; moved behind what was copied, or behind the gap.</param>
    /// <param name="maxBytes">Longest run wanted; one batch comes whole in any case.</param>
    /// <param name="copy">Whole batches, rented from the shared pool.</param>
    /// <param name="length">How many bytes they are.</param>
    /// <param name="gap">What was overwritten in front of the oldest batch.</param>
    internal ReadResult TryCopy(ref LogCursor cursor, int maxBytes, out byte[] copy, out int length, out LogGap gap)
    {
        (copy, length, gap) = ([], 0, default);
        lock (_appendLock)
        {
            if (_isClosed)
                return ReadResult.Closed;
            if (!Ring.IsIntact(cursor.Position))
            {
                long expected = cursor.Offset;
                cursor = Find(Ring.Tail, StartKind.Earliest, 0);
                gap = new LogGap(expected, cursor.Offset - 1, GapReason.Dropped);
                if (cursor.Offset > expected)
                    return ReadResult.Gap;
            }
            if (!Ring.TryGetRun(cursor.Position, maxBytes, out RingRun run))
                return ReadResult.AtEnd;
            length = run.Length;
            copy = ArrayPool<byte>.Shared.Rent(length);
            run.Span.CopyTo(copy);
            long end = cursor.Offset;
            foreach (BatchView batch in new BatchRun(copy.AsSpan(0, length)))
                end = batch.NextOffset;
            cursor = new LogCursor(end, run.NextPosition);
            return ReadResult.Run;
        }
    }

    /// <summary>
    /// Gives the ring's memory back to the system when nothing reads it; what it still held is gone then.
    /// </summary>
    public bool TryRelease()
    {
        lock (_appendLock)
            return Ring.TouchedBytes != 0 && Ring.TryRelease();
    }

    public ValueTask DeleteAsync() => DisposeAsync();

    public ValueTask DisposeAsync()
    {
        lock (_appendLock)
        {
            _isClosed = true;
            _memory.Dispose();
        }
        return ValueTask.CompletedTask;
    }

    /// <summary>Asks the readers that yield for the room of an entry; the caller holds the append lock.</summary>
    private bool TryMakeRoom(int length)
    {
        long start = Ring.Published;
        int toLapEnd = Ring.Capacity - (int)(start & (Ring.Capacity - 1));
        long needed = start + length + (length > toLapEnd ? toLapEnd : 0) - Ring.Capacity;
        bool asked = false;
        foreach (YieldingReader reader in _yielding)
        {
            if (reader.Gate.Value >= needed)
                continue;
            reader.Yield(needed);
            asked = true;
        }
        return asked;
    }

    /// <summary>The offset of the batch at <paramref name="position"/>; the caller holds the append lock.</summary>
    private long OffsetAt(long position) =>
        Ring.TryGetRun(position, 1, out RingRun run) ? new BatchView(run.Span).BaseOffset : _endOffset;

    private LogCursor Find(long position, StartKind start, long value)
    {
        if (start == StartKind.Latest)
            return new LogCursor(_endOffset, Ring.Published);
        while (Ring.TryGetRun(position, 1, out RingRun run))
        {
            var batch = new BatchView(run.Span);
            bool found = start switch
            {
                StartKind.Offset => batch.NextOffset > value,
                StartKind.Timestamp => batch.AppendTime >= value,
                _ => true,
            };
            if (found)
                return new LogCursor(batch.BaseOffset, run.Position);
            position = run.NextPosition;
        }
        return new LogCursor(_endOffset, Ring.Published);
    }
}
