using LightQ.Client.Batches;
using LightQ.Client.Telemetry;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>
/// A producer's batches: the open one, the sealed ones that wait for the sender, and those in flight, all within its
/// budget.
/// </summary>
/// <remarks>Guarded by its producer's gate. Batches leave in the order they were filled.</remarks>
internal sealed class PublishQueue
{
    // Each sealed batch holds a buffer, however little is in it.
    private const int MaxSealed = 128;

    // Those of messages with an id hold little ones.
    private const int MaxSmallSealed = 1024;
    private const int MaxUnrepeatableInFlight = 4096;

    // Twice a window, however small the batches: what comes back above it would be allocated anew for ever.
    private const int SpareBytes = 2 * ProtocolLimits.DefaultPublishWindowBytes;

    private readonly Queue<SendBatch> _sealed = new();
    private readonly Queue<SendBatch> _inFlight = new();
    private readonly TimeProvider _time;
    private readonly bool _isRepeatable;
    private readonly int _mostInFlight;
    private int _maxInFlight;
    private SendBatchPool _batches;
    private PublishBudget _budget;
    private ulong _storedEnd;
    private SendBatch? _open;

    // The open batch, if its messages are delivered at once and never expire: so messages that do the same ask nothing
    // more.
    private SendBatch? _plain;

    /// <summary>Makes an empty queue.</summary>
    /// <param name="batchBytes">The size of ordinary batches.</param>
    /// <param name="isRepeatable">
    /// Whether batches may have to be sent again, so that their memory is kept until the ack.
    /// </param>
    /// <param name="time">The clock of the batches' timestamps.</param>
    /// <param name="shared">The batches that it shares with other queues; null for its own.</param>
    public PublishQueue(int batchBytes, bool isRepeatable, TimeProvider time, SendBatchPool? shared = null)
    {
        _time = time;
        _isRepeatable = isRepeatable;
        _maxInFlight = _mostInFlight = isRepeatable
            ? Math.Clamp(ProtocolLimits.UnacknowledgedBytes / batchBytes, 16, ProtocolLimits.UnacknowledgedBatches)
            : MaxUnrepeatableInFlight;
        _batches = shared ?? MakePool(batchBytes);
    }

    /// <summary>The number of the next record that is sent for the first time.</summary>
    public ulong NextSequence { get; set; }

    /// <summary>
    /// The number of the oldest record that was sent, if only on an earlier connection, and has no ack.
    /// </summary>
    public ulong OldestSequence =>
        _inFlight.TryPeek(out SendBatch? batch) || TryPeekAgain(out batch) ? batch!.BaseSequence : NextSequence;

    /// <summary>Whether something was sent, if only on an earlier connection, and has no ack.</summary>
    public bool HasUnanswered => OldestSequence != NextSequence;

    /// <summary>Whether there is room for an ordinary batch.</summary>
    public bool HasRoomForBatch => HasRoom(_batches.BatchBytes);

    /// <summary>Whether no batch is being filled, waits, or is in flight.</summary>
    public bool IsEmpty => _open is null && _sealed.Count == 0 && _inFlight.Count == 0;

    /// <summary>Whether half of the window is free.</summary>
    public bool IsHalfFree => _budget.IsHalfFree;

    /// <summary>Whether the next batch is the short one of a message with an id.</summary>
    public bool IsNextSmall =>
        _sealed.TryPeek(out SendBatch? next)
        && next.Properties.MessageId is not null
        && next.Length <= SendBatchPool.SmallBatchBytes;

    /// <summary>Whether a record of so many bytes and these times goes into the open batch.</summary>
    public bool FitsOpen(int recordLength, in BatchProperties properties) =>
        IsOpenFor(properties) && _open!.Fits(recordLength);

    public SendBatch Rent(in BatchProperties properties) => _batches.Rent(0, properties);

    /// <summary>An empty batch for a record of so many bytes, and as many more as an ordinary one takes.</summary>
    public SendBatch Rent(int recordLength, in BatchProperties properties) =>
        _batches.Rent(
            Math.Max(BatchLayout.Align(properties.HeaderLength + recordLength), _batches.BatchBytes),
            properties
        );

    /// <summary>
    /// The broker opened a stream with these windows, of bytes and of batches, on which nothing is sent yet; 0 batches
    /// for any number.
    /// </summary>
    public void Open(int window, long maxBatchBytes, uint batchWindow)
    {
        _budget.Open(window);
        _maxInFlight = batchWindow == 0 ? _mostInFlight : (int)Math.Min((uint)_mostInFlight, batchWindow);
        if (maxBatchBytes < _batches.BatchBytes && maxBatchBytes >= ProducerOptions.SmallestBatchBytes)
            _batches = MakePool((int)maxBatchBytes & ~(BatchLayout.Alignment - 1));
    }

    /// <summary>Nothing that was sent will be credited any more.</summary>
    public void ForgetSent() => _budget.ForgetSent();

    public bool TryAddToOpen(ReadOnlySpan<byte> body) => _plain is { } open && open.TryAdd(body);

    public bool TryAdd(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        int recordLength,
        in BatchProperties properties
    ) =>
        (IsOpenFor(properties) && _open!.TryAdd(body, key, headers))
        || (TryOpenBatch(recordLength, properties) && _open!.TryAdd(body, key, headers));

    public bool TryAddEncoded(ReadOnlySpan<byte> record, in BatchProperties properties) =>
        (IsOpenFor(properties) && _open!.TryAddEncoded(record))
        || (TryOpenBatch(record.Length, properties) && _open!.TryAddEncoded(record));

    /// <summary>Registers the caller that waits for the record added last.</summary>
    public void AddWaiter(PublishCompletion completion) => _open!.AddWaiter(completion);

    /// <summary>Takes a whole batch behind everything else.</summary>
    public bool TryQueue(SendBatch batch)
    {
        SealOpen();
        if (!HasRoom(batch.Length))
            return false;
        batch.Charge = batch.Length;
        batch.StartedAt = StampForMeasuring();
        _budget.Queue(batch.Charge);
        _sealed.Enqueue(batch);
        return true;
    }

    public void Credit(uint bytes) => _budget.Credit(bytes);

    /// <summary>Whether the window takes the next batch; the open one counts only when asked for.</summary>
    /// <remarks>Behind very many small batches in flight the open one goes on growing instead.</remarks>
    public bool CanSend(bool mayTakeOpen)
    {
        if (_inFlight.Count >= _maxInFlight)
            return false;
        if (_sealed.TryPeek(out SendBatch? next))
            return _budget.MaySend(next.Length);
        return mayTakeOpen && _open is not null && _budget.MaySend(_open.Length);
    }

    /// <summary>Takes the next batch for sending, numbers it, and holds its memory.</summary>
    public SendBatch Send()
    {
        if (_sealed.Count == 0)
            SealOpen();
        SendBatch batch = _sealed.Dequeue();
        if (!batch.IsCompleted)
        {
            batch.BaseSequence = NextSequence;
            NextSequence += (ulong)batch.Count;
        }
        else
        {
            // Compressed when it was first sent.
            _budget.Queue(batch.Length - batch.Charge);
            batch.Charge = batch.Length;
        }
        _budget.Send(batch.Charge);
        batch.IsRepeatable = _isRepeatable;
        batch.Hold();
        _inFlight.Enqueue(batch);
        return batch;
    }

    /// <summary>A batch in flight turned out shorter than it was when it was taken for sending: compression.</summary>
    public void Shrink(SendBatch batch)
    {
        // Settled meanwhile: its bytes are no longer counted.
        if (batch.Charge == 0)
            return;
        _budget.Shrink(batch.Charge - batch.Length);
        batch.Charge = batch.Length;
    }

    /// <summary>Takes the oldest batch in flight if it lies before <paramref name="endSequence"/>.</summary>
    public bool TryTakeInFlight(ulong endSequence, out SendBatch batch)
    {
        if (!_inFlight.TryPeek(out batch!) || batch.BaseSequence >= endSequence)
            return false;
        _inFlight.Dequeue();
        _budget.Settle(batch.Charge);
        batch.Charge = 0;
        return true;
    }

    /// <summary>Takes the oldest batch that was sent, if only on an earlier connection, and has no ack.</summary>
    public bool TryTakeUnanswered(out SendBatch batch)
    {
        if (TryTakeInFlight(ulong.MaxValue, out batch))
            return true;
        return TryPeekAgain(out _) && TryTakeQueued(out batch);
    }

    /// <summary>Takes the oldest batch that waits to be sent.</summary>
    public bool TryTakeQueued(out SendBatch batch)
    {
        SealOpen();
        if (!_sealed.TryDequeue(out batch!))
            return false;
        _budget.Queue(-batch.Charge);
        return true;
    }

    /// <summary>How many batches wait to be sent, the one that was being filled included.</summary>
    public int CountQueued()
    {
        SealOpen();
        return _sealed.Count;
    }

    /// <summary>Puts a batch behind all others that wait, whatever room there is.</summary>
    public void Requeue(SendBatch batch)
    {
        batch.Charge = batch.Length;
        _budget.Queue(batch.Charge);
        _sealed.Enqueue(batch);
    }

    /// <summary>Begins another batch with the next message.</summary>
    public void SealOpen()
    {
        if (_open is null)
            return;
        _budget.Queue(_open.Length - _open.Charge);
        _open.Charge = _open.Length;
        _sealed.Enqueue(_open);
        _open = _plain = null;
    }

    /// <summary>
    /// The broker stored so much: the batches up to a number. What it dropped as duplicates lies in front of it or
    /// behind it.
    /// </summary>
    public void OnStored(ulong endSequence) => _storedEnd = endSequence;

    /// <summary>The numbers begin here: nothing that was sent counts any more.</summary>
    public void Begin(ulong sequence) => NextSequence = _storedEnd = sequence;

    /// <summary>Sends again what has no ack, if the broker expects a number that it can have come to.</summary>
    /// <remarks>
    /// Behind a kill the broker does not know of duplicates that it dropped behind the last batch it stored, and
    /// expects their numbers again. What was sent behind them it cannot have stored, so that gets these numbers.
    /// </remarks>
    /// <returns>False when it has lost its memory of the producer.</returns>
    public bool TryResend(ulong expected)
    {
        if (expected < _storedEnd || expected > NextSequence)
            return false;
        bool isRenumbered = expected < OldestSequence;
        Resend();
        if (!isRenumbered)
            return true;
        NextSequence = expected;
        foreach (SendBatch batch in _sealed)
        {
            if (!batch.IsCompleted)
                break;
            batch.BaseSequence = NextSequence;
            NextSequence += (ulong)batch.Count;
        }
        return true;
    }

    /// <summary>Puts what is in flight back in front of what waits, to be sent again with its numbers.</summary>
    private void Resend()
    {
        SealOpen();
        int sealedBefore = _sealed.Count;
        while (_inFlight.TryDequeue(out SendBatch? again))
        {
            _budget.Unsend(again.Charge);
            _sealed.Enqueue(again);
        }
        for (; sealedBefore > 0; sealedBefore--)
            _sealed.Enqueue(_sealed.Dequeue());
    }

    /// <summary>The oldest batch that waits to be sent again.</summary>
    private bool TryPeekAgain(out SendBatch? batch) => _sealed.TryPeek(out batch) && batch.IsCompleted;

    private SendBatchPool MakePool(int batchBytes) =>
        new(batchBytes, (SpareBytes / batchBytes) + 2 + (_isRepeatable ? _mostInFlight : 0), _time);

    private long StampForMeasuring() => Instruments.OperationDuration.Enabled ? _time.GetTimestamp() : 0;

    private bool HasRoom(int bytes) =>
        _sealed.Count < (bytes <= SendBatchPool.SmallBatchBytes ? MaxSmallSealed : MaxSealed) && _budget.HasRoom(bytes);

    // A message with an id has a batch of its own.
    private bool IsOpenFor(in BatchProperties properties) =>
        _open is not null && properties.MessageId is null && _open.Properties == properties;

    private bool TryOpenBatch(int recordLength, in BatchProperties properties)
    {
        int bytes = BatchLayout.Align(properties.HeaderLength + recordLength);
        if (properties.MessageId is null && !(_batches.StartsSmall && IsEmpty))
            bytes = Math.Max(bytes, _batches.BatchBytes);
        SealOpen();
        if (!HasRoom(bytes))
            return false;
        _open = _batches.Rent(bytes, properties);
        _plain = properties == default ? _open : null;
        _open.Charge = _open.BatchBytes;
        _open.StartedAt = StampForMeasuring();
        _budget.Queue(_open.Charge);
        return true;
    }
}
