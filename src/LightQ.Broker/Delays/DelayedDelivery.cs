using System.Buffers;
using LightQ.Broker.Logs;
using LightQ.Broker.Scheduling;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Delays;

/// <summary>Delivers the delayed batches of one durable log: each lies where it was published, and is appended again when it is due.</summary>
/// <remarks>
/// The delivery says of which batch it is, and both are in the log: so whatever the moment at which the broker ends, recovery finds a batch
/// either delivered or not. Runs on the pool, one turn at a time. Lock order: the turn's, the append lock, the schedule's.
/// </remarks>
internal sealed class DelayedDelivery(Partition partition, DelaySchedule schedule, Func<int> maxBatches, LimitRefusals refusals) : WorkItem
{
    private const int BatchesPerTurn = 64;
    private const long RetryMicroseconds = 1_000_000;

    private static readonly long LongestDelay = (long)ProtocolLimits.LongestDelay.TotalMicroseconds;
    private readonly PendingDelays _pending = new();
    private readonly Lock _turn = new();
    private LogReader? _reader;
    private int _isScheduled;
    private bool _waitsForLog;
    private bool _isStopped;

    /// <summary>When the schedule wakes it; the schedule's to guard.</summary>
    public long WakesAt { get; set; } = long.MaxValue;

    /// <summary>Messages that wait to be due.</summary>
    public long Messages => _pending.Messages;

    /// <summary>The first offset that must be kept, because it is not delivered yet; <see cref="long.MaxValue"/> for none.</summary>
    public long FirstOffset => _pending.FirstOffset;

    /// <summary>Whether a delayed batch may be appended now. Under the append lock.</summary>
    public ErrorCode Check(in BatchView batch)
    {
        if (batch.DueAt > schedule.Now + LongestDelay)
            return ErrorCode.InvalidArgument;
        return _pending.Count >= maxBatches() ? ErrorCode.ResourceExhausted : ErrorCode.None;
    }

    /// <summary>What <see cref="Check"/> refused, for people.</summary>
    public string Describe(ErrorCode error) => error == ErrorCode.ResourceExhausted
        ? refusals.Refuse("Broker:" + nameof(BrokerOptions.MaxDelayedBatches), maxBatches(), "As many delayed batches wait in this partition already")
        : $"the batch is due in more than {ProtocolLimits.LongestDelay.TotalDays} days";

    /// <summary>A delayed batch was appended. Under the append lock.</summary>
    public void OnAppended(in BatchView batch, long offset)
    {
        _pending.Add(offset, batch.DueAt, batch.RecordCount);
        schedule.Wake(this, batch.DueAt);
    }

    /// <summary>A batch behind the snapshot was found at the start.</summary>
    public void OnRecovered(in BatchView header)
    {
        if (header.DueAt != 0)
            _pending.Add(header.BaseOffset, header.DueAt, header.RecordCount);
        else if (header.OriginOffset >= 0)
            _pending.Remove(header.OriginOffset);
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

    /// <summary>The log has more room, or more that is readable.</summary>
    public void OnProgress()
    {
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
    }

    public override void Run()
    {
        Interlocked.Exchange(ref _isScheduled, 0);
        bool delivered = false;
        lock (_turn)
        {
            int left = BatchesPerTurn;
            while (!_isStopped && TryNext(out long offset))
            {
                if (left-- == 0)
                {
                    Schedule();
                    break;
                }
                // Set before it is tried, so that progress made meanwhile is not missed.
                Volatile.Write(ref _waitsForLog, true);
                Interlocked.MemoryBarrier();
                if (!TryDeliver(offset))
                    break;
                Volatile.Write(ref _waitsForLog, false);
                delivered = true;
            }
        }
        if (delivered)
            partition.FlushAndWake();
    }

    /// <summary>The next batch, if one is due; otherwise it is woken when that is so.</summary>
    private bool TryNext(out long offset)
    {
        lock (partition.AppendLock)
        {
            if (!_pending.TryPeek(out offset, out long dueAt))
            {
                CloseReader();
                return false;
            }
            if (dueAt <= schedule.Now)
                return true;
            CloseReader();
            schedule.Wake(this, dueAt);
            return false;
        }
    }

    /// <returns>False when it has to wait; who will wake it knows.</returns>
    private bool TryDeliver(long offset)
    {
        _reader ??= partition.Log.OpenReader(StartKind.Offset, offset, holds: false, Schedule);
        if (_reader.Cursor.Offset != offset)
            _reader.MoveTo(new LogCursor(offset, offset));
        switch (_reader.TryRead(1, out LentRun run, out _))
        {
            case ReadResult.Run:
                return TryAppend(run.Memory.Span, offset);
            case ReadResult.Gap:
                // Truncated by hand, or damaged: consumers are told where the batch was.
                Drop(offset);
                return true;
            case ReadResult.Failed:
                schedule.Wake(this, schedule.Now + RetryMicroseconds);
                return false;
            default:
                return false;
        }
    }

    private bool TryAppend(ReadOnlySpan<byte> run, long offset)
    {
        if (!BatchView.TryRead(run, out BatchView batch) || batch.BaseOffset != offset || batch.DueAt == 0)
        {
            // A repair has put a gap there.
            _reader!.Park();
            Drop(offset);
            return true;
        }
        int length = batch.Length;
        byte[] copy = ArrayPool<byte>.Shared.Rent(length);
        batch.Bytes.CopyTo(copy);
        _reader!.Park();
        BatchWriter.MakeDelivery(copy.AsSpan(0, length), offset);
        AppendResult result;
        lock (partition.AppendLock)
        {
            result = partition.Append(new BatchView(copy.AsSpan(0, length)), partition.NextAppendTime(), out _);
            if (result == AppendResult.Appended)
                _pending.Remove(offset);
        }
        ArrayPool<byte>.Shared.Return(copy);
        if (result == AppendResult.DiskFull)
            schedule.Wake(this, schedule.Now + RetryMicroseconds);
        return result == AppendResult.Appended;
    }

    private void Drop(long offset)
    {
        lock (partition.AppendLock)
            _pending.Remove(offset);
    }

    private void CloseReader()
    {
        _reader?.Dispose();
        _reader = null;
    }
}
