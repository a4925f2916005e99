using System.Diagnostics;
using LightQ.Client.Batches;
using LightQ.Client.Timing;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>What waits to be sent on one connection: control frames, and producers that have batches ready.</summary>
/// <remarks>
/// Thread-safe. One sender at a time holds the role (<c>_busy</c>): under load the connection's own sender; when the
/// connection is quiet, the publishing thread itself, which saves a hop to another thread. Lock order: a stream's gate,
/// then this one.
/// </remarks>
internal abstract class Outbox(TimeProvider time)
{
    // A receipt can wait, a message behind it cannot: with a thousand subscribers on two cores, receipts that are sent
    // at once take the mean latency of a fan-out from 12 to 18 ms. Below the 40 ms after which TCP acknowledges by
    // itself, so that receipt and acknowledgement share a packet.
    private static readonly TimeSpan SettlementDelay = TimeSpan.FromMilliseconds(20);

    // At most 8: up to that many, the runtime gathers without allocating.
    private const int MaxSegments = 8;
    private const int MaxDirectProducers = 1;

    // A loop that publishes comes back within a microsecond or two, a paced publisher does not.
    private static readonly long QuietTicks = Stopwatch.Frequency / 50_000;

    private readonly Queue<IOutgoing> _ready = new();
    private readonly List<SendBatch> _inRound = new(MaxSegments);
    private readonly List<PendingSettlements> _settling = [];
    private readonly List<InHand> _watched = [];
    private readonly SettleRange[] _taken = new SettleRange[PendingSettlements.Most];
    private byte[] _control = new byte[512];
    private byte[] _controlInSend = new byte[512];
    private int _controlLength;
    private ITimer? _settlementTimer;
    private bool _settlementsWait;
    private bool _settlementsDue;
    private bool _busy;
    private long _lastSend;
    private TaskCompletionSource? _endOfRound;
    private TaskCompletionSource? _sent;

    protected object Gate { get; } = new();

    protected bool IsClosed { get; private set; }

    protected bool IsBusy => _busy;

    protected bool HasWork => _controlLength > 0 || _ready.Count > 0 || _settlementsDue;

    /// <summary>What the current round sends. Belongs to the thread that holds the role.</summary>
    protected List<ArraySegment<byte>> Segments { get; } = new(MaxSegments);

    /// <summary>Grows with every send; the heartbeat looks at it.</summary>
    public int Sends { get; private set; }

    /// <summary>Queues a control frame behind those queued before, and in front of batches.</summary>
    public void Write<TBody>(in TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>
    {
        lock (Gate)
        {
            if (IsClosed)
                return;
            WriteSettlements();
            _controlLength += FrameCodec.Write(ControlRoom(FrameHeader.Size + body.MaxSize), body, stream, tag);
            if (!_busy)
                WakeSender();
        }
    }

    /// <summary>Queues a settlement that wants an answer.</summary>
    public void Settle(uint stream, uint tag, in SettleRange range, ReadOnlySpan<byte> reasonUtf8)
    {
        lock (Gate)
        {
            if (IsClosed)
                return;
            WriteSettlements();
            WriteSettle(stream, tag, range, reasonUtf8);
            if (!_busy)
                WakeSender();
        }
    }

    /// <summary>Queues settlements that want one answer.</summary>
    public void Settle(uint stream, uint tag, ReadOnlySpan<SettleRange> ranges)
    {
        lock (Gate)
        {
            if (IsClosed)
                return;
            WriteSettlements();
            _controlLength += SettleFrame.Write(ControlRoom(SettleFrame.SizeOf(ranges.Length)), stream, tag, ranges);
            if (!_busy)
                WakeSender();
        }
    }

    /// <summary>
    /// Queues the completion of messages; it goes with what is sent next, or after a while. What follows one after the
    /// other goes as one range.
    /// </summary>
    public void Settle(PendingSettlements completions, uint deliveryId, long first, uint count)
    {
        lock (Gate)
        {
            if (IsClosed)
                return;
            if (!completions.TryAddUnsent(deliveryId, first, count, out bool isFirst))
            {
                WriteSettlements();
                completions.TryAddUnsent(deliveryId, first, count, out isFirst);
            }
            if (isFirst)
                _settling.Add(completions);
            SendSettlementsLater();
        }
    }

    /// <summary>Looks after a while what is in hand then, and tells the broker.</summary>
    public void Watch(InHand hand)
    {
        lock (Gate)
        {
            if (IsClosed)
                return;
            _watched.Add(hand);
            SendSettlementsLater();
        }
    }

    /// <summary>Queues a producer that has something to send; it must not be queued already.</summary>
    /// <param name="producer">The producer.</param>
    /// <param name="mayDirect">Whether this thread may send itself when the connection is quiet.</param>
    public void Schedule(IOutgoing producer, bool mayDirect)
    {
        lock (Gate)
        {
            if (IsClosed)
                return;
            _ready.Enqueue(producer);
            if (_busy)
                return;
            if (
                !mayDirect
                || _controlLength > 0
                || _ready.Count > MaxDirectProducers
                || Stopwatch.GetTimestamp() - _lastSend < QuietTicks
            )
            {
                WakeSender();
                return;
            }
            _busy = true;
        }
        SendDirectly();
    }

    /// <summary>Completes when what is being sent at the moment has been let go of.</summary>
    public Task EndOfRoundAsync()
    {
        lock (Gate)
        {
            if (!_busy)
                return Task.CompletedTask;
            _endOfRound ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _endOfRound.Task;
        }
    }

    /// <summary>
    /// Completes when what was queued until now is sent, settlements included and batches not; or when it is closed.
    /// </summary>
    public Task SentAsync()
    {
        lock (Gate)
        {
            _settlementsDue |= _settling.Count > 0;
            if (IsClosed || (!_busy && _controlLength == 0 && !_settlementsDue))
                return Task.CompletedTask;
            _sent ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            if (!_busy)
                WakeSender();
            return _sent.Task;
        }
    }

    /// <summary>Takes nothing more; what was queued is not sent.</summary>
    public void Close()
    {
        lock (Gate)
        {
            IsClosed = true;
            _sent?.TrySetResult();
            _settlementTimer?.Dispose();
            Monitor.PulseAll(Gate);
        }
    }

    /// <summary>Called under the gate when there is work and no thread sends.</summary>
    protected abstract void WakeSender();

    /// <summary>Sends one round on this thread, which holds the role, and gives the role back.</summary>
    protected abstract void SendDirectly();

    /// <summary>Takes the role if there is work and no thread has it. Called under the gate.</summary>
    protected bool TryTakeRole()
    {
        if (IsClosed || _busy || !HasWork)
            return false;
        _busy = true;
        return true;
    }

    /// <summary>Lets go of what the round sent. The caller holds the role.</summary>
    protected void EndRound()
    {
        foreach (SendBatch batch in _inRound)
            batch.EndSend();
        _inRound.Clear();
        if (Volatile.Read(ref _endOfRound) is not null)
            CompleteRound();
    }

    protected void ReleaseRole()
    {
        lock (Gate)
        {
            _busy = false;
            _lastSend = Stopwatch.GetTimestamp();
            CompleteRound();
            if (_controlLength == 0 && !_settlementsDue)
                _sent?.TrySetResult();
            if (IsClosed)
                Monitor.PulseAll(Gate);
            else if (HasWork)
                WakeSender();
        }
    }

    /// <summary>Fills <see cref="Segments"/> with what goes out next. The caller holds the role.</summary>
    /// <returns>False when there is nothing.</returns>
    protected bool TakeRound()
    {
        Segments.Clear();
        int producers;
        lock (Gate)
        {
            if (IsClosed)
                return false;
            producers = _ready.Count;
            WriteSettlements();
            if (_controlLength > 0)
            {
                (_control, _controlInSend) = (_controlInSend, _control);
                Segments.Add(new ArraySegment<byte>(_controlInSend, 0, _controlLength));
                _controlLength = 0;
            }
        }
        for (; producers > 0 && Segments.Count < MaxSegments; producers--)
        {
            IOutgoing producer;
            lock (Gate)
                producer = _ready.Dequeue();
            if (producer.TakeForSend(this, Segments, _inRound, MaxSegments))
            {
                lock (Gate)
                    _ready.Enqueue(producer);
            }
        }
        if (Segments.Count == 0)
            return false;
        Sends++;
        return true;
    }

    private void CompleteRound() => Interlocked.Exchange(ref _endOfRound, null)?.TrySetResult();

    private void SendSettlementsLater()
    {
        if (_settlementsWait)
            return;
        _settlementsWait = true;
        _settlementTimer ??= ClientTimer.Create(time, static outbox => ((Outbox)outbox!).OnSettlementsDue(), this);
        _settlementTimer.Change(SettlementDelay, Timeout.InfiniteTimeSpan);
    }

    private void OnSettlementsDue()
    {
        lock (Gate)
        {
            _settlementsWait = false;
            if (IsClosed)
                return;
            foreach (InHand hand in _watched)
                hand.EndWatch(this);
            // Here, so that taking a message needs no fence of its own.
            if (_watched.Count != 0)
                Interlocked.MemoryBarrierProcessWide();
            foreach (InHand hand in _watched)
            {
                if (hand.TryTell(this, out uint stream, out SettleRange begun))
                    WriteSettle(stream, 0, begun);
            }
            _watched.Clear();
            _settlementsDue = _settling.Count > 0;
            if (HasWork && !_busy)
                WakeSender();
        }
    }

    /// <summary>Puts what waits to be settled behind the control frames. Called under the gate.</summary>
    private void WriteSettlements()
    {
        foreach (PendingSettlements completions in _settling)
        {
            int count = completions.TakeUnsent(_taken);
            _controlLength += SettleFrame.Write(
                ControlRoom(SettleFrame.SizeOf(count)),
                completions.Stream,
                0,
                _taken.AsSpan(0, count)
            );
        }
        _settling.Clear();
        _settlementsDue = false;
    }

    private void WriteSettle(uint stream, uint tag, in SettleRange range, ReadOnlySpan<byte> reasonUtf8 = default) =>
        _controlLength += SettleFrame.Write(
            ControlRoom(SettleFrame.SizeOf(1, reasonUtf8.Length)),
            stream,
            tag,
            [range],
            reasonUtf8
        );

    private Span<byte> ControlRoom(int bytes)
    {
        int needed = _controlLength + bytes;
        if (needed > _control.Length)
            Array.Resize(ref _control, Math.Max(needed, 2 * _control.Length));
        return _control.AsSpan(_controlLength);
    }
}
