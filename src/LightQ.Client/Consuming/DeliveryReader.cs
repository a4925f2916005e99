using System.Threading.Tasks.Sources;
using LightQ.Client.Connections;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client.Consuming;

/// <summary>
/// The part that both enumerators share: goes from batch to batch, waits for deliveries, gives memory back.
/// </summary>
/// <remarks>
/// Used by one consumer at a time, like every enumerator. Waiting allocates nothing: this object is its own value-task
/// source.
/// </remarks>
internal abstract class DeliveryReader : IValueTaskSource<bool>, IThreadPoolWorkItem
{
    private readonly CancellationToken _cancellationToken;
    private readonly CancellationTokenSource? _either;
    private readonly Func<CancellationToken, Task<Consumer>> _subscribe;
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
    private bool _isDisposed;

    /// <param name="subscribe">Opens the subscription.</param>
    /// <param name="all">Ends every enumeration of the stream.</param>
    /// <param name="cancellationToken">Ends this one.</param>
    protected DeliveryReader(
        Func<CancellationToken, Task<Consumer>> subscribe,
        CancellationToken all,
        CancellationToken cancellationToken
    )
    {
        _subscribe = subscribe;
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

    /// <summary>Which messages are wanted; null for all.</summary>
    protected MessageFilter? Filter { get; private set; }

    /// <summary>The lock of the current batch's messages, with which they are settled.</summary>
    protected DeliveryLock Lock { get; private set; }

    /// <summary>The partition of the current batch.</summary>
    protected int Partition { get; private set; }

    public virtual async ValueTask DisposeAsync()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        await _registration.DisposeAsync().ConfigureAwait(false);
        _either?.Dispose();
        EndRun();
        _consumer?.Close();
    }

    /// <summary>Resumes the caller that waits for this reader; called once per wait.</summary>
    public void Resume(bool inline)
    {
        if (inline)
            Continue();
        else
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    void IThreadPoolWorkItem.Execute() => Continue();

    bool IValueTaskSource<bool>.GetResult(short token) => _core.GetResult(token);

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

    /// <summary>Looks at the batch that has just become the current one.</summary>
    /// <returns>Whether it holds anything to hand out.</returns>
    protected abstract bool OnBatch();

    /// <summary>Goes to the next batch; completes synchronously as long as there is one.</summary>
    protected ValueTask<bool> MoveToNextBatchAsync()
    {
        if (_consumer is null)
            return SubscribeAndMoveAsync();
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (_cancellationToken.IsCancellationRequested)
            return ValueTask.FromCanceled<bool>(_cancellationToken);
        if (Instruments.Source.HasListeners())
            _request = ReceiveRequest.Now;
        _core.Reset();
        return TryAdvance(_consumer) ? new ValueTask<bool>(true) : new ValueTask<bool>(this, _core.Version);
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
        _consumer = await _subscribe(_cancellationToken).ConfigureAwait(false);
        Filter = _consumer.Options.Filter;
        if (_cancellationToken.CanBeCanceled)
        {
            _registration = _cancellationToken.UnsafeRegister(
                static reader => ((DeliveryReader)reader!).OnCanceled(),
                this
            );
        }

        return await MoveToNextBatchAsync().ConfigureAwait(false);
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
        while (true)
        {
            while (_next < _runEnd)
            {
                if (!TakeBatch(_run.Source) || !OnBatch())
                    continue;
                if (Instruments.ConsumedMessages.Enabled || Instruments.Source.HasListeners())
                    _run.Source.Operations.OnReceived(View(default), _request);
                return true;
            }
            EndRun();
            if (!consumer.TryTake(this, out Delivery delivery))
            {
                // Cancelled just before the wait was registered: the callback found nobody waiting.
                if (_cancellationToken.IsCancellationRequested)
                    OnCanceled();
                return false;
            }
            if (delivery.Gap is { } gap)
            {
                delivery.Source.Report(gap);
                continue;
            }
            if (delivery.Range.DeliveryId != 0 && delivery.Settlements is { Ended.IsCancellationRequested: true })
            {
                delivery.Source.Release(delivery); // Its lock went with its connection: it comes again.
                continue;
            }
            ReceiveBlock block = delivery.Block!;
            (_run, _runMemory, Partition) = (delivery, block.Bytes, delivery.Source.Partition);
            Lock = new DeliveryLock(
                delivery.Settlements,
                delivery.Range.DeliveryId,
                delivery.Range.DeliveryCount,
                delivery.LockedUntil,
                delivery.Range.LockMilliseconds
            );
            (_next, _runEnd) = (delivery.Offset, delivery.Offset + delivery.Length);
        }
    }

    private bool TakeBatch(Subscription source)
    {
        var batch = new BatchView(_runMemory.AsSpan(_next, _runEnd - _next));
        (_received, _receivedLength) = (_next, batch.Length);
        _next += batch.Length;
        batch = new BatchView(_runMemory.AsSpan(_received, _receivedLength));
        if (!_run.IsSameBatch)
            source.IsBatchSound = !source.Options.VerifyChecksums || (batch.VerifyHeader() && batch.VerifyPayload());
        if (!source.IsBatchSound || batch.Kind == BatchKind.Gap)
        {
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
        switch (batch.FateAt(source.Now))
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
        _run.Source.Release(_run);
        _run = default;
        (_next, _runEnd) = (0, 0);
    }
}
