using System.Threading.Tasks.Sources;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;

namespace LightQ.Client.Consuming;

/// <summary>
/// The part that both enumerators share: goes from batch to batch, waits for deliveries, gives memory back.
/// </summary>
/// <remarks>
/// Used by one consumer at a time, like every enumerator. Waiting allocates nothing: this object is its own value-task
/// source.
/// </remarks>
internal abstract class DeliveryReader : IValueTaskSource<bool>, IThreadPoolWorkItem, ILoop
{
    private readonly CancellationToken _cancellationToken;
    private readonly CancellationTokenSource? _either;
    private readonly Func<ILoop, CancellationToken, Task<Consumer>> _subscribe;
    private ManualResetValueTaskSourceCore<bool> _core;
    private CancellationTokenRegistration _registration;
    private Consumer? _consumer;
    private BatchInflater? _inflater;
    private ReceiveRequest _request;
    private Delivery _run;
    private byte[] _runMemory = [];
    private int _received;
    private int _receivedLength;
    private int _next;
    private int _runEnd;
    private HeldLocks? _locks;
    private HeldLock? _held;
    private TimeProvider _time = TimeProvider.System;
    private long _longestRenewal;
    private long _muchWork;
    private long _tick = -1;
    private long _movedAt;
    private long _worked;
    private int _workedOn;

    // Whose turn it is, where messages are locked: only that of the application may be ended from outside.
    private bool _isApplications;
    private bool _isLookedAt;
    private Task<bool>? _asked;
    private bool _isWaitedFor;
    private bool _isDisposed;

    /// <param name="subscribe">Opens the subscription.</param>
    /// <param name="window">How much is delivered ahead of the work.</param>
    /// <param name="all">Ends every enumeration of the stream.</param>
    /// <param name="cancellationToken">Ends this one.</param>
    protected DeliveryReader(
        Func<ILoop, CancellationToken, Task<Consumer>> subscribe,
        InFlightWindow window,
        CancellationToken all,
        CancellationToken cancellationToken
    )
    {
        _subscribe = subscribe;
        Window = window;
        if (all.CanBeCanceled && cancellationToken.CanBeCanceled && all != cancellationToken)
            _either = CancellationTokenSource.CreateLinkedTokenSource(all, cancellationToken);
        _cancellationToken = _either?.Token ?? (all.CanBeCanceled ? all : cancellationToken);
    }

    /// <summary>The memory that holds the current batch, inflated if it was compressed.</summary>
    protected byte[] Memory { get; private set; } = [];

    /// <summary>Where the current batch begins.</summary>
    protected int BatchStart { get; private set; }

    /// <summary>The length of the current batch.</summary>
    protected int BatchLength { get; private set; }

    /// <summary>How many of its first records lie before the offset that was asked for.</summary>
    protected int BatchSkip { get; private set; }

    /// <summary>How many of its records are handed out behind those.</summary>
    protected int BatchCount { get; private set; }

    /// <summary>Where the messages begin of which nothing was said to the broker by the reader itself.</summary>
    protected virtual long FirstUnsettled => 0;

    /// <summary>
    /// Says which messages of the current batch are begun, as they are handed out; null where that is not said, or not
    /// by the reader.
    /// </summary>
    protected Settlements? Begins { get; private set; }

    /// <summary>Whether batches are handed out whole, and so are left whole.</summary>
    protected virtual bool HandsOutBatches => false;

    /// <summary>What is handed out with the current batch at first.</summary>
    protected abstract (long First, int Count) HandedOut { get; }

    /// <summary>Which messages are wanted; null for all.</summary>
    protected MessageFilter? Filter { get; private set; }

    /// <summary>The lock of the current batch's messages, with which they are settled.</summary>
    protected DeliveryLock Lock { get; private set; } = DeliveryLock.None;

    /// <summary>The partition of the current batch.</summary>
    protected int Partition { get; private set; }

    public InFlightWindow Window { get; }

    public virtual int Unit => 1;

    public long MovedAt => Volatile.Read(ref _movedAt);

    public bool TryStop(out Settlements? settlements, out SettleRange rest)
    {
        (settlements, rest) = (null, default);
        Volatile.Write(ref _isLookedAt, true);
        // Here, so that asking for the next message needs no fence of its own: a reader whose turn this does not see
        // from here on sees that it is looked at.
        Interlocked.MemoryBarrierProcessWide();
        bool isApplications = Volatile.Read(ref _isApplications);
        if (isApplications && _held is not null)
            (settlements, rest) = (Lock.Settlements, CutOff(_held, 0));
        Volatile.Write(ref _isLookedAt, false);
        return isApplications;
    }

    public virtual async ValueTask DisposeAsync()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        await _registration.DisposeAsync().ConfigureAwait(false);
        bool isLeft = TakeTurn() && !_cancellationToken.IsCancellationRequested;
        _either?.Dispose();
        if (isLeft)
            Abandon();
        EndRun();
        _consumer?.Close();
    }

    /// <summary>Resumes the caller that waits for this reader; called once per wait.</summary>
    public void Resume(bool inline)
    {
        // The loop asks: that the thread pool has no time for it does not make it stand still.
        Volatile.Write(ref _movedAt, _time.GetTimestamp());
        if (inline)
            Continue();
        else
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    void IThreadPoolWorkItem.Execute() => Continue();

    bool IValueTaskSource<bool>.GetResult(short token)
    {
        _isWaitedFor = false;
        return _core.GetResult(token);
    }

    ValueTaskSourceStatus IValueTaskSource<bool>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<bool>.OnCompleted(
        Action<object?> continuation,
        object? state,
        short token,
        ValueTaskSourceOnCompletedFlags flags
    ) => _core.OnCompleted(continuation, state, token, flags);

    /// <summary>A view of the current batch.</summary>
    /// <param name="life">How long it is good.</param>
    protected MessageBatch View(ViewLife life) =>
        new(Memory, BatchStart, BatchLength, BatchSkip, BatchCount, Partition, Lock, Filter, life);

    /// <summary>
    /// The application asks for the next message of a delivery: notes that the loop moves, and keeps the lock for what
    /// is handed out now.
    /// </summary>
    /// <returns>False when the lock has run out: what is left of the delivery comes again.</returns>
    protected bool MayGoOn() => _held is null || MayGoOn(_held);

    /// <summary>Something of the current delivery is handed out.</summary>
    /// <param name="next">The offset behind it.</param>
    protected void OnHandedOut(long next)
    {
        if (_held is null)
            return;
        _held.Next = next;
        Volatile.Write(ref _isApplications, true);
    }

    /// <summary>Looks at the batch that has just become the current one.</summary>
    /// <returns>Whether it holds anything to hand out.</returns>
    protected abstract bool OnBatch();

    /// <summary>Goes to the next batch; completes synchronously as long as there is one.</summary>
    /// <exception cref="InvalidOperationException">The step before has not come to its end.</exception>
    protected ValueTask<bool> MoveToNextBatchAsync()
    {
        if (_isWaitedFor)
            throw StepTooEarly();
        if (_consumer is null)
            return SubscribeAndMoveAsync();
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (_cancellationToken.IsCancellationRequested)
            return ValueTask.FromCanceled<bool>(_cancellationToken);
        if (Instruments.Source.HasListeners())
            _request = ReceiveRequest.Now;
        if (_held is not null)
            OnAsked();
        _core.Reset();
        if (TryAdvance(_consumer))
            return new ValueTask<bool>(true);
        _isWaitedFor = true;
        return new ValueTask<bool>(this, _core.Version);
    }

    /// <summary>Reports that the current batch cannot be read further.</summary>
    protected void ReportDamage()
    {
        var batch = new BatchView(_runMemory.AsSpan(_received, _receivedLength));
        bool isSound = batch.VerifyHeader() && batch.OffsetSpan > 0;
        Subscription source = _run.Source;
        long first = isSound ? batch.BaseOffset : source.ExpectedOffset;
        long last = isSound ? batch.NextOffset - 1 : first;
        source.Report(new MessageGap(source.Topic, first, last, GapReason.Corrupt, source.Partition));
    }

    /// <summary>
    /// Skips messages that the consumer does not get: completes them if the consumer settles explicitly.
    /// </summary>
    protected void PassOver(long first, int count) => Lock.Settlements?.Complete(Lock.DeliveryId, first, count);

    private async ValueTask<bool> SubscribeAndMoveAsync()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        _isWaitedFor = true;
        try
        {
            _consumer = await _subscribe(this, _cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            _isWaitedFor = false;
        }
        Filter = _consumer.Options.Filter;
        _time = _consumer.Time;
        _movedAt = _time.GetTimestamp();
        _muchWork = (long)(InFlightWindow.Work.TotalSeconds * _time.TimestampFrequency);
        _longestRenewal = (long)(_consumer.Options.MaxLockRenewal.TotalSeconds * _time.TimestampFrequency);
        if (_cancellationToken.CanBeCanceled)
        {
            _registration = _cancellationToken.UnsafeRegister(
                static reader => ((DeliveryReader)reader!).OnCanceled(),
                this
            );
        }

        return await MoveToNextBatchAsync().ConfigureAwait(false);
    }

    private static InvalidOperationException StepTooEarly() =>
        new("MoveNextAsync was called while the call before waits: await each one, as await foreach does.");

    /// <summary>
    /// The loop is left, by an exception or a break, with messages that it has not settled: the first of them may be
    /// why. It is not as when the loop is cancelled: without a count, one that cannot be worked on would come for ever.
    /// </summary>
    private void Abandon()
    {
        if (
            Lock.Settlements is { Locks: { } locks } settlements
            && locks.TryFindInHand(out uint id, out long first, out int count)
        )
        {
            settlements.Abandon(id, first, HandsOutBatches ? (uint)count : 1);
        }
    }

    private bool MayGoOn(HeldLock held)
    {
        // The precise clock costs more than all the rest of a step. Within a tick of the coarse one, a few
        // milliseconds, a lock is as good as it was when the tick began: it had much longer to go.
        if (
            Environment.TickCount64 == _tick
            && held.Deadline != long.MinValue
            && !Window.IsWorthALook(_workedOn + 1)
            && TakeTurn()
        )
        {
            _workedOn++;
            return held.Next < held.End;
        }
        long now = OnAsked();
        return held.Next < held.End && Check(held, now);
    }

    /// <summary>The application asks for more: it has worked since it was given the last.</summary>
    /// <returns>When.</returns>
    private long OnAsked()
    {
        bool hasWorked = TakeTurn();
        long now = _time.GetTimestamp();
        if (!hasWorked)
            return now;
        _worked += now - _movedAt;
        _movedAt = now;
        _workedOn += Unit;
        if ((Window.IsWorthALook(_workedOn) || _worked >= _muchWork) && Window.AtATime == 0)
            Adapt();
        return now;
    }

    /// <returns>Whether it was the application's.</returns>
    private bool TakeTurn()
    {
        bool wasApplications = _isApplications;
        Volatile.Write(ref _isApplications, false);
        while (Volatile.Read(ref _isLookedAt))
            Thread.Yield();
        return wasApplications;
    }

    /// <summary>Whether a delivery may still be handed out; keeps its lock if so.</summary>
    private bool Check(HeldLock held, long now)
    {
        _movedAt = now;
        held.KeepUntil = now + _longestRenewal;
        _tick = -1;
        if (now < held.HalfTime)
        {
            // Half of a lock is half a second at least.
            if (_time == TimeProvider.System)
                _tick = Environment.TickCount64;
            return true;
        }
        if (now >= held.Deadline)
        {
            _locks!.Lose(held);
            return false;
        }
        _locks!.Keep(held);
        return true;
    }

    /// <summary>Sees to it that no more is delivered ahead of the work than it is worth.</summary>
    private void Adapt()
    {
        bool isOther = Window.OnWorked(_workedOn, _time.GetElapsedTime(0, _worked));
        (_worked, _workedOn) = (0, 0);
        Consumer consumer = _consumer!;
        int rest = _held is null ? 0 : (int)(_held.End - _held.Next);
        int excess = consumer.Resize(rest, isOther);
        if (excess <= 0 || _held is null)
            return;
        SettleRange range = CutOff(_held, Math.Max(0, rest - excess));
        if (range.Count != 0)
            Lock.Settlements!.GiveBack(range);
    }

    /// <summary>Leaves some messages of what is left of a delivery.</summary>
    /// <returns>The others.</returns>
    private SettleRange CutOff(HeldLock held, int left)
    {
        long first = Math.Max(held.Next + left, FirstUnsettled);
        if (first >= held.End)
            return default;
        var rest = new SettleRange(SettleKind.Return, held.Id, first, (uint)(held.End - first));
        held.End = first;
        return rest;
    }

    private void Continue()
    {
        try
        {
            if (!TryAdvance(_consumer!))
                return;
        }
        catch (Exception e)
        {
            // Not handled but handed over: it surfaces where the consumer awaits.
            _core.SetException(e);
            return;
        }
        _core.SetResult(true);
    }

    private void OnCanceled()
    {
        if (!_consumer!.TryStopWaiting(this))
            return;
        _core.RunContinuationsAsynchronously = true;
        _core.SetException(new OperationCanceledException(_cancellationToken));
    }

    private bool TryAdvance(Consumer consumer)
    {
        if (_asked is { } asked)
        {
            _asked = null;
            if (IsBegun(asked))
                return OnHandingOut();
        }
        while (true)
        {
            while (_next < _runEnd && (_held is null || Check(_held, _time.GetTimestamp())))
            {
                if (!TakeBatch(_run.Source) || !OnBatch())
                    continue;
                if (Begins is null || TryBegin(out bool isAsked))
                    return OnHandingOut();
                if (isAsked)
                    return false;
            }
            EndRun();
            if (consumer.AwaitsEnd)
                consumer.CheckEnd();
            if (_workedOn != 0 && Window.AtATime == 0 && consumer.IsDrained)
                Adapt(); // What the broker sends next depends on it.
            DeliveryLock last = Begins is null ? DeliveryLock.None : Lock;
            if (!consumer.TryTake(this, out Delivery delivery))
            {
                last.AskForMore();
                // Cancelled just before the wait was registered: the callback found nobody waiting.
                if (_cancellationToken.IsCancellationRequested)
                    OnCanceled();
                return false;
            }
            if (delivery.Block is not { } block)
            {
                if (delivery.Gap is { } gap)
                    delivery.Source.Report(gap);
                else
                    delivery.Source.Begin(delivery.Started!);
                continue;
            }
            delivery.Source.MustReadBatch |= delivery.IsUnread;
            if (delivery.Held is not null && !delivery.Settlements!.Locks!.TryTake(delivery.Held))
            {
                delivery.Source.Drop(delivery); // Its lock has run out, or went with its connection: it comes again.
                continue;
            }
            (_locks, _held) = (delivery.Settlements?.Locks, delivery.Held);
            (_run, _runMemory, Partition) = (delivery, block.Bytes, delivery.Source.Partition);
            Lock = delivery.Settlements is { } settlements
                ? new DeliveryLock(
                    settlements,
                    delivery.Range.DeliveryId,
                    delivery.Range.DeliveryCount,
                    delivery.LockedUntil,
                    delivery.Range.IsDoubted
                )
                : DeliveryLock.None;
            Begins = consumer.IsLoop && Lock.Settlements is { SaysWhatIsBegun: true } says ? says : null;
            (_next, _runEnd) = (delivery.Offset, delivery.Offset + delivery.Length);
        }
    }

    private bool OnHandingOut()
    {
        if (Instruments.ConsumedMessages.Enabled || Instruments.Source.HasListeners())
            _run.Source.Operations.OnReceived(View(default), _request);
        return true;
    }

    /// <summary>What is about to be handed out is begun.</summary>
    /// <param name="isAsked">Whether the broker is asked: this reader is resumed when it has answered.</param>
    /// <returns>False also when the delivery is no longer this consumer's.</returns>
    private bool TryBegin(out bool isAsked)
    {
        (long first, int count) = HandedOut;
        isAsked = false;
        if (!Lock.MustAsk)
        {
            Begins!.TakeInHand(Lock.DeliveryId, first, count);
            return true;
        }
        Task<bool> asked = Lock.AskAsync(first, count);
        if (asked.IsCompleted)
            return IsBegun(asked);
        (isAsked, _asked) = (true, asked);
        asked.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(() => Resume(inline: true));
        return false;
    }

    private bool IsBegun(Task<bool> asked)
    {
        if (!asked.Result)
        {
            TakeTurn();
            _next = _runEnd; // The rest of the delivery went with it.
            return false;
        }
        (long first, int count) = HandedOut;
        Begins!.TakeInHand(Lock.DeliveryId, first, count, isTold: true);
        return true;
    }

    private bool TakeBatch(Subscription source)
    {
        var batch = new BatchView(_runMemory.AsSpan(_next, _runEnd - _next));
        (_received, _receivedLength) = (_next, batch.Length);
        _next += batch.Length;
        batch = new BatchView(_runMemory.AsSpan(_received, _receivedLength));
        if (_run.IsUnread || source.MustReadBatch)
        {
            source.MustReadBatch = false;
            source.IsBatchSound = !source.Options.VerifyChecksums || (batch.VerifyHeader() && batch.VerifyPayload());
        }
        if (!source.IsBatchSound || batch.Kind == BatchKind.Gap)
        {
            if (_held is not null)
                _held.KeepUntil = 0; // Nobody works on it.
            ReportDamage();
            return false;
        }
        source.ExpectedOffset = batch.NextOffset;
        if (batch.Kind != BatchKind.Data)
            return false;
        if (_run.Range.Count != 0)
        {
            (BatchSkip, BatchCount) = ((int)(_run.Range.FirstOffset - batch.BaseOffset), (int)_run.Range.Count);
        }
        else
        {
            if (batch.NextOffset <= source.FirstWantedOffset)
                return false;
            BatchSkip = (int)Math.Max(0, source.FirstWantedOffset - batch.BaseOffset);
            BatchCount = batch.RecordCount - BatchSkip;
        }
        (Memory, BatchStart, BatchLength) = (_runMemory, _received, _receivedLength);
        // Plain batches have no flags.
        return batch.Flags == 0 || Open(source, batch);
    }

    /// <summary>Looks at a batch's times, and inflates it.</summary>
    /// <returns>Whether there is something to hand out.</returns>
    private bool Open(Subscription source, in BatchView batch)
    {
        long first = batch.BaseOffset + BatchSkip;
        switch (batch.FateAt((batch.Flags & BatchLayout.HasExpiry) == 0 ? 0 : source.NowFor(batch.AppendTime)))
        {
            case BatchFate.Later:
                PassOver(first, (int)(batch.NextOffset - first));
                return false;
            case BatchFate.Expired:
                PassOver(first, BatchCount);
                long last = first + BatchCount - 1;
                source.Report(new MessageGap(source.Topic, first, last, GapReason.Expired, source.Partition));
                return false;
            default:
                break;
        }
        if (batch.Codec == BatchCodec.None)
            return true;
        _inflater ??= new BatchInflater(source.Options.MaxInflatedBytes);
        if (!_inflater.TryInflate(batch))
        {
            ReportDamage();
            return false;
        }
        (Memory, BatchStart, BatchLength) = (_inflater.Memory, 0, _inflater.Length);
        return true;
    }

    private void EndRun()
    {
        if (_run.Block is null)
            return;
        _inflater?.Return();
        if (_held is not null)
            _locks!.Leave(_held);
        (_locks, _held) = (null, null);
        _run.Source.Release(_run);
        _run = default;
        (_next, _runEnd) = (0, 0);
    }
}
