using System.Buffers;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Storage;

namespace LightQ.Broker.Delays;

/// <summary>
/// Delivers the delayed batches of one durable log: each lies where it was published, and is appended again when it is
/// due.
/// </summary>
/// <remarks>
/// The delivery says of which batch it is, and both are in the log: so whatever the moment at which the broker ends,
/// recovery finds a batch either delivered or not. A batch that retention would have to wait for is copied to the end
/// of the log in the same way. Runs on the pool, one turn at a time. Lock order: the turn's, the append lock, the
/// schedule's.
/// </remarks>
internal sealed class DelayedDelivery(
    Partition partition,
    DelaySchedule schedule,
    Func<BrokerOptions> options,
    LimitRefusals refusals
) : WorkItem
{
    private const int BatchesPerTurn = 64;
    private const long RetryMicroseconds = 1_000_000;

    private static readonly long LongestDelay = (long)
        (ProtocolLimits.LongestDelay + ProtocolLimits.DueTimeSlack).TotalMicroseconds;
    private readonly PendingDelays _pending = new();
    private readonly UnsafeCopies _unsafe = new();
    private readonly Queue<long> _inTheWay = new();
    private readonly Lock _turn = new();
    private LogReader? _reader;
    private Wish? _wish;
    private long _lookedAt;
    private int _isScheduled;
    private TimeSpan _taken = partition.Time.Taken;
    private bool _waitsForLog;
    private bool _isStopped;

    /// <summary>When the schedule wakes it; the schedule's to guard.</summary>
    public long WakesAt { get; set; } = long.MaxValue;

    /// <summary>Messages that wait to be due.</summary>
    public long Messages => _pending.Messages;

    /// <summary>
    /// The first offset that must be kept, because it is not delivered yet, or not as safely as it was published;
    /// <see cref="long.MaxValue"/> for none.
    /// </summary>
    /// <remarks>In this order: what is taken off the one has been put into the other.</remarks>
    public long FirstOffset => Math.Min(_pending.FirstOffset, _unsafe.FirstOrigin(() => partition.Log.DurableOffset));

    /// <summary>Cancels what waits.</summary>
    public CancelledMessages Cancelled { get; } = new(partition);

    private int MaxBatches => options().MaxDelayedBatches;

    /// <summary>What the topic keeps, and so what may wait.</summary>
    private long MostBytes => partition.Topic.Settings.RetentionBytes is > 0 and var kept ? kept : long.MaxValue;

    /// <summary>
    /// See <see cref="FirstOffsetToKeep"/>. What is in the way is copied to the log's end, as soon as that frees more
    /// than it costs.
    /// </summary>
    public long KeepFrom(long removable, long bytes)
    {
        long first = FirstOffset;
        if (first < removable && Interlocked.Exchange(ref _lookedAt, removable) != removable)
        {
            Volatile.Write(ref _wish, new Wish(removable, bytes));
            Schedule();
        }
        return first;
    }

    /// <summary>Whether a delayed batch may be appended now. Under the append lock.</summary>
    public ErrorCode Check(in BatchView batch, uint user)
    {
        bool isRelative = (batch.Flags & BatchLayout.HasRelativeTimes) != 0;
        if (batch.DueAt > (isRelative ? LongestDelay : schedule.Now + LongestDelay))
            return ErrorCode.InvalidArgument;
        return
            _pending.Count >= MaxBatches
            || HasShare(user)
            || (_pending.Count != 0 && _pending.Bytes + batch.Length > MostBytes)
            ? ErrorCode.ResourceExhausted
            : ErrorCode.None;
    }

    /// <summary>Whether a user has all that it may have of the batches that may wait.</summary>
    private bool HasShare(uint user) =>
        UserShare.IsUsedUp(user, _pending.CountOf(user), _pending.Count, MaxBatches, options().MaxSharePercent);

    /// <summary>What <see cref="Check"/> refused, for people.</summary>
    public string Describe(ErrorCode error, uint user) =>
        error switch
        {
            ErrorCode.InvalidArgument => $"the batch is due in more than {ProtocolLimits.LongestDelay.TotalDays} days",
            _ when _pending.Count >= MaxBatches => refusals.Refuse(
                nameof(BrokerOptions.MaxDelayedBatches),
                MaxBatches,
                "As many delayed batches wait in this partition already"
            ),
            _ when HasShare(user) => refusals.Refuse(
                nameof(BrokerOptions.MaxDelayedBatches),
                MaxBatches,
                UserShare.Describe(_pending.CountOf(user), _pending.Count, "delayed batches of this partition")
            ),
            _ => $"the delayed batches that wait in this partition would have more bytes than the topic keeps; "
                + $"allowed: retention_bytes, {MostBytes}",
        };

    /// <summary>A delayed batch was appended. Under the append lock.</summary>
    /// <param name="batch">As the producer has sent it.</param>
    /// <param name="offset">Where it is.</param>
    /// <param name="time">When it was appended, unix microseconds.</param>
    /// <param name="user">The <see cref="UserNumber"/> of whoever published it.</param>
    public void OnAppended(in BatchView batch, long offset, long time, uint user)
    {
        FollowClock();
        bool isRelative = (batch.Flags & BatchLayout.HasRelativeTimes) != 0;
        long dueAt = isRelative ? time + batch.DueAt : batch.DueAt;
        _pending.Add(offset, dueAt, batch.RecordCount, batch.Length, isRelative, user);
        schedule.Wake(this, dueAt);
    }

    /// <summary>What waits, in no order.</summary>
    public ScheduledBatch[] List()
    {
        lock (partition.AppendLock)
        {
            FollowClock();
            return _pending.All();
        }
    }

    /// <summary>
    /// Notes in the log that messages are cancelled. What is noted is not delivered any more; it is as safe as the log
    /// makes it when <see cref="CancelledMessages.CancelAsync"/> has waited for it. Under the append lock.
    /// </summary>
    /// <param name="messages">The offsets at which they were published.</param>
    /// <param name="outcomes">Is told of each, in their order, whether it waited.</param>
    /// <returns>Why it went no further than the outcomes; appended when it is through.</returns>
    public AppendResult Cancel(IReadOnlyList<long> messages, List<bool> outcomes)
    {
        long[] firsts = _pending.FindBatches(messages);
        Span<byte> note = stackalloc byte[BatchWriter.CancellationSize];
        for (int i = outcomes.Count; i < firsts.Length; i++)
        {
            // Asked again: the same message may be named twice.
            if (firsts[i] < 0 || !_pending.Awaits(firsts[i], messages[i]))
            {
                outcomes.Add(false);
                continue;
            }
            _pending.TryFind(firsts[i], out long lies);
            BatchWriter.MakeCancellation(note, firsts[i], messages[i], schedule.Now);
            AppendResult result = partition.Log.TryAppend(note, partition.NextAppendTime(), out long offset);
            if (result != AppendResult.Appended)
                return result;
            _unsafe.Add(lies, offset + 1, partition.Log.DurableOffset);
            outcomes.Add(_pending.Cancel(firsts[i], messages[i]));
        }
        return AppendResult.Appended;
    }

    /// <summary>A batch behind the snapshot was found at the start.</summary>
    public void OnRecovered(in BatchView header)
    {
        long first = header.OriginOffset,
            dueAt = header.DueAt;
        if (header.Kind == BatchKind.Control && first >= 0)
            _pending.Cancel(first, (long)header.BaseSequence);
        else if (dueAt != 0 && first >= 0)
            _pending.AddCopy(header.BaseOffset, first, dueAt, header.RecordCount, header.Length);
        else if (dueAt != 0)
            _pending.Add(header.BaseOffset, dueAt, header.RecordCount, header.Length);
        else if (first >= 0)
            _pending.Remove(first);
    }

    /// <summary>As <see cref="PendingDelays.Save"/>. Under the append lock.</summary>
    public byte[] Save() => _pending.Save();

    /// <summary>As <see cref="PendingDelays.Load"/>.</summary>
    public ReadOnlySpan<byte> Load(ReadOnlySpan<byte> snapshot) => _pending.Load(snapshot);

    /// <summary>Recovery is over: what is due is delivered from now on.</summary>
    public void Begin()
    {
        lock (partition.AppendLock)
        {
            if (_pending.TryPeek(out _, out long dueAt))
                schedule.Wake(this, dueAt);
        }
    }

    /// <summary>The log has more room, or more that is readable or safe; or it has ended.</summary>
    public void OnProgress()
    {
        Cancelled.OnProgress();
        if (Volatile.Read(ref _waitsForLog))
            Schedule();
    }

    /// <summary>Has it look soon, on the pool.</summary>
    public void Schedule()
    {
        if (Interlocked.Exchange(ref _isScheduled, 1) == 0)
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>Delivers nothing more and lets go of the log. What waits is found again at the next start.</summary>
    public void Stop()
    {
        schedule.Forget(this);
        lock (_turn)
        {
            _isStopped = true;
            CloseReader();
        }
        Cancelled.Stop();
    }

    public override void Run()
    {
        Interlocked.Exchange(ref _isScheduled, 0);
        bool delivered = false;
        lock (_turn)
        {
            int left = BatchesPerTurn;
            while (!_isStopped && TryNext(out Batch next))
            {
                if (left-- == 0)
                {
                    Schedule();
                    break;
                }
                // Set before the try, so that progress made meanwhile is not missed.
                Volatile.Write(ref _waitsForLog, true);
                Interlocked.MemoryBarrier();
                if (!TryAppendAgain(next))
                    break;
                Volatile.Write(ref _waitsForLog, false);
                delivered = true;
            }
        }
        if (delivered)
            partition.FlushAndWake();
    }

    /// <summary>
    /// The next batch, if one is due or in the way of retention; otherwise it is woken when one is due.
    /// </summary>
    private bool TryNext(out Batch next)
    {
        lock (partition.AppendLock)
        {
            FollowClock();
            bool isAny = _pending.TryPeek(out long first, out long dueAt);
            if (isAny && dueAt <= schedule.Now)
            {
                _pending.TryFind(first, out long offset);
                next = new Batch(first, offset, IsDue: true, _pending.CancelledOf(first));
                return true;
            }
            // Copy at most half of what retention would free: then every copied byte frees one, however often the same
            // batches are copied.
            if (Interlocked.Exchange(ref _wish, null) is { } wish)
            {
                foreach (long inTheWay in _pending.Before(wish.Removable, wish.Bytes / 2))
                    _inTheWay.Enqueue(inTheWay);
            }
            while (_inTheWay.TryPeek(out first))
            {
                if (_pending.TryFind(first, out long offset))
                {
                    next = new Batch(first, offset, IsDue: false, _pending.CancelledOf(first));
                    return true;
                }
                _inTheWay.Dequeue();
            }
            CloseReader();
            if (isAny)
                schedule.Wake(this, dueAt);
            next = default;
            return false;
        }
    }

    /// <summary>Appends the delivery of a batch that is due, or a copy of one that is in the way.</summary>
    /// <returns>False when it has to wait; what it waits for will wake it.</returns>
    private bool TryAppendAgain(in Batch next)
    {
        _reader ??= partition.Log.OpenReader(StartKind.Offset, next.Offset, holds: false, Schedule);
        if (_reader.Cursor.Offset != next.Offset)
            _reader.MoveTo(new LogCursor(next.Offset, next.Offset));
        switch (_reader.TryRead(1, out LentRun run, out _))
        {
            case ReadResult.Run:
                return TryAppend(run.Memory.Span, next);
            case ReadResult.Gap:
                // Truncated by an operator, or damaged: consumers get a gap where the batch was.
                Drop(next);
                return true;
            case ReadResult.Failed:
                Postpone(next);
                return true;
            default:
                return false;
        }
    }

    /// <summary>The disk does not read this batch: it is tried again, and holds up no other meanwhile.</summary>
    private void Postpone(in Batch batch)
    {
        if (!batch.IsDue)
        {
            _inTheWay.Dequeue(); // Retention asks again when it could remove more.
            return;
        }
        lock (partition.AppendLock)
            _pending.PostponeFirst(schedule.Now + RetryMicroseconds);
    }

    private bool TryAppend(ReadOnlySpan<byte> run, in Batch next)
    {
        if (
            !BatchView.TryRead(run, out BatchView batch)
            || batch.BaseOffset != next.Offset
            || batch.DueAt == 0
            || !batch.VerifyPayload()
        )
        {
            // A repair has put a gap there, or its bytes were damaged since: consumers get a gap where it lies.
            _reader!.Park();
            Drop(next);
            return true;
        }
        (int length, long dueAt) = (batch.Length, batch.DueAt);
        byte[]? copy;
        IReadOnlyList<long>? part = null;
        if (next is { IsDue: true, Cancelled: { } cancelled })
            copy = PartOfBatch.Without(batch, next.First, cancelled, partition.MaxBatchBytes, out length, out part);
        else
            batch.Bytes.CopyTo(copy = ArrayPool<byte>.Shared.Rent(length));
        _reader!.Park();
        if (copy is null)
        {
            Drop(next); // Its records are damaged, though its checksum holds: nobody could read them.
            return true;
        }
        Span<byte> bytes = copy.AsSpan(0, length);
        int count = new BatchView(bytes).RecordCount;
        AppendResult result;
        lock (partition.AppendLock)
        {
            if (
                !_pending.TryFind(next.First, out _)
                || _pending.CountCancelled(next.First) != (next.Cancelled?.Count ?? 0)
            )
            {
                ArrayPool<byte>.Shared.Return(copy);
                return true; // Cancelled meanwhile, or a part of it: what is left is looked at anew.
            }
            // By how much the clock was set since: the time to live counts from when the message is due.
            long moved = _pending.DueAt(next.First) is { } due ? due - dueAt : 0;
            if (next.IsDue)
                // Recovery takes the delivery that names the first offset for that of the whole batch.
                BatchWriter.MakeDelivery(bytes, part is null ? next.First : Math.Max(part[0], next.First + 1));
            else
                BatchWriter.MakeCopy(bytes, next.First);
            if (next.IsDue && moved != 0)
                BatchWriter.MoveExpiry(bytes, moved);
            // A copy is not a received message, and does not count as one.
            result = next.IsDue
                ? partition.Append(new BatchView(bytes), partition.NextAppendTime(), out long offset)
                : partition.Log.TryAppend(bytes, partition.NextAppendTime(), out offset);
            if (result == AppendResult.Appended)
            {
                _unsafe.Add(next.Offset, offset + count, partition.Log.DurableOffset);
                if (part is not null)
                {
                    // The rest follows. It is not noted in the log what has gone: after a crash in between, that
                    // comes again.
                    foreach (long message in part)
                        _pending.Cancel(next.First, message);
                }
                else if (next.IsDue)
                {
                    _pending.Remove(next.First);
                }
                else
                {
                    _pending.AddCopy(offset, next.First, dueAt, count, length);
                }
            }
        }
        ArrayPool<byte>.Shared.Return(copy);
        if (result == AppendResult.DiskFull)
            schedule.Wake(this, schedule.Now + RetryMicroseconds);
        if (result == AppendResult.Appended && !next.IsDue)
            _inTheWay.Dequeue();
        return result == AppendResult.Appended;
    }

    /// <summary>
    /// A step of the clock that the broker has taken over changes no delay: what waits for so long is due by the new
    /// time that much later. Under the append lock.
    /// </summary>
    private void FollowClock()
    {
        TimeSpan taken = partition.Time.Taken;
        if (taken == _taken)
            return;
        _pending.Move((long)(taken - _taken).TotalMicroseconds);
        _taken = taken;
    }

    private void Drop(in Batch batch)
    {
        lock (partition.AppendLock)
            _pending.Remove(batch.First);
    }

    private void CloseReader()
    {
        _reader?.Dispose();
        _reader = null;
    }

    /// <summary>A batch that is to be appended again.</summary>
    /// <param name="First">Where it was published.</param>
    /// <param name="Offset">Where it, or its newest copy, lies.</param>
    /// <param name="IsDue">Whether it is to be delivered; otherwise it is in the way of retention.</param>
    /// <param name="Cancelled">Those of its messages that are cancelled; null for none.</param>
    private readonly record struct Batch(long First, long Offset, bool IsDue, HashSet<long>? Cancelled);

    /// <summary>What retention would remove.</summary>
    private sealed record Wish(long Removable, long Bytes);
}
