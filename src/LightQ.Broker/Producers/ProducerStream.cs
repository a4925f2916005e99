using LightQ.Broker.Deduplication;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Storage.Files;

namespace LightQ.Broker.Producers;

/// <summary>
/// One producer stream of a connection: checks batches, appends them in order, waits when the log is full, and collects
/// acks.
/// </summary>
/// <remarks>
/// <see cref="Publish"/> and <see cref="Flush"/> are called by the connection's reading thread,
/// <see cref="TakeOutput"/> by its output turn, the rest by any thread that makes room or moves the durable end. All
/// meet under this object's lock, which nothing holds for longer than one run's copy.
/// </remarks>
public sealed class ProducerStream : OutputStream
{
    /// <summary>At most this part of the window is held back until the next ack.</summary>
    private const int CreditShare = 4;

    private readonly Partition _partition;
    private readonly ProducerState? _state;
    private readonly uint _producerEpoch;
    private readonly uint _user;
    private readonly PendingBatches _pending;
    private readonly Queue<PendingAck> _acks = new();
    private readonly ResumeItem _resume;
    private readonly int _window;
    private readonly bool _refusesAlone;
    private readonly BatchWindow? _batches; // Null for an anonymous producer, of which nothing is remembered.
    private long _windowUsed;
    private long _creditOwed;
    private long _lastAck;
    private Refusal? _refusal;
    private StreamClose? _end;
    private bool _broken;

    internal ProducerStream(
        IStreamOwner owner,
        uint id,
        Partition partition,
        ProducerState? state,
        uint producerEpoch,
        Durability ackLevel,
        int window,
        PendingBudget budget,
        bool refusesAlone = false
    )
        : base(owner, id)
    {
        _partition = partition;
        _state = state;
        _producerEpoch = producerEpoch;
        _user = Mutation.AnyOwner ? UserNumber.None : owner.User;
        AckLevel = ackLevel;
        _window = window;
        _refusesAlone = refusesAlone;
        _pending = new PendingBatches(budget, owner.User);
        _batches = state is null ? null : new BatchWindow();
        _resume = new ResumeItem(this);
    }

    /// <summary>The durability that acks wait for.</summary>
    public Durability AckLevel { get; }

    /// <summary>Whether the log remembers its producer.</summary>
    internal bool IsNamed => _state is not null;

    /// <summary>The partition it appends to.</summary>
    public Partition Partition => _partition;

    /// <summary>Whether something of it is not acknowledged yet. Any thread.</summary>
    public bool IsBusy
    {
        get
        {
            lock (_acks)
                return _acks.Count != 0 || !_pending.IsEmpty;
        }
    }

    /// <summary>Takes the body of a Publish frame.</summary>
    /// <param name="run">Batches.</param>
    /// <returns>False when the client sent more than its window allows: the connection must close.</returns>
    public bool Publish(ReadOnlySpan<byte> run)
    {
        // Before the lock: a thread that takes acks of earlier batches does not wait for checksums.
        CheckAll(run, out int valid, out int batches, out ErrorCode error, out string reason);
        lock (_acks)
        {
            if (_broken || _refusal is not null || IsReleased)
                return true;
            bool wasIdle = _windowUsed == 0;
            _windowUsed += run.Length;
            if (_windowUsed > _window && !wasIdle)
                return false;
            if (_batches is not null && batches > _batches.Room)
            {
                (batches, error) = (_batches.Room, ErrorCode.WindowExceeded);
                valid = LengthOf(run, batches);
                reason =
                    $"the producer has {ProtocolLimits.UnacknowledgedBatches} batches without an ack, and may have no "
                    + $"more";
            }
            _batches?.Receive(batches);
            AppendOrWait(run[..valid]);
            if (error != ErrorCode.None)
                Refuse(run[valid..], error, reason);
            return true;
        }
    }

    /// <summary>Gets what was published on its way, and the acks: once for all that one receive brought.</summary>
    public void Flush()
    {
        bool readersFirst = _partition.ReadersFirst;
        if (!readersFirst)
            LockAndScheduleOutput();
        _partition.FlushAndWake();
        if (readersFirst)
            LockAndScheduleOutput();
    }

    /// <summary>Writes what can be acknowledged by now.</summary>
    /// <param name="ranges">Where the ranges go; when it is filled, call again.</param>
    public PublishOutput TakeOutput(Span<AckRange> ranges)
    {
        lock (_acks)
        {
            int count = 0,
                batches = 0;
            long reached = _partition.Log.PositionOf(AckLevel);
            while (count < ranges.Length && _acks.TryPeek(out PendingAck ack) && ack.Position <= reached)
            {
                _acks.Dequeue();
                batches += ack.Batches;
                if (count > 0 && ranges[count - 1].IsContinuedBy(ack.Range))
                    ranges[count - 1] = ranges[count - 1] with { Count = ranges[count - 1].Count + ack.Range.Count };
                else
                    ranges[count++] = ack.Range;
            }
            if (_end is not null && _acks.Count == 0)
                RequestClose(_end);
            long credit = _creditOwed;
            _creditOwed = 0;
            _windowUsed -= credit;
            return new PublishOutput(count, AckLevel, (uint)credit, _batches?.Acknowledge(batches) ?? 0);
        }
    }

    /// <summary>
    /// The client has sent back what <see cref="PublishOutput.Echo"/> gave it: it has read every ack up to there.
    /// </summary>
    public void OnEcho(uint echo)
    {
        lock (_acks)
        {
            if (_batches is null)
                return;
            if (_batches.OnEcho(echo))
                Schedule();
            if (!_pending.IsEmpty)
                TurnScope.Post(_resume);
        }
    }

    private protected override void LeaveTopic()
    {
        lock (_acks)
        {
            _pending.Clear();
        }
        if (_state is not null)
        {
            lock (_partition.AppendLock)
                _state.Streams--;
        }
        _partition.Detach(this);
    }

    /// <summary>The log moved its written or durable end.</summary>
    internal void OnProgress()
    {
        if (_acks.Count != 0)
            Schedule();
    }

    /// <summary>The log failed: nothing that is not acknowledged by now ever will be.</summary>
    internal void OnFailed(ErrorCode code, string reason)
    {
        lock (_acks)
        {
            if (_end is not null)
                RequestClose(_end);
            else if (!_broken)
                Break(null, code, reason);
        }
    }

    /// <summary>There may be room in the log again.</summary>
    internal void OnRoom() => TurnScope.Post(_resume);

    private bool CheckOne(ReadOnlySpan<byte> run, out int length, out ErrorCode error, out string reason)
    {
        length = 0;
        int longest = _refusesAlone ? int.MaxValue : _partition.MaxBatchBytes;
        error = BatchValidator.CheckPublished(run, longest, Owner.IsBroker, out BatchView batch, out reason);
        if (error != ErrorCode.None)
            return false;
        if (!IsOwn(batch) && !Mutation.AnyProducerId)
        {
            (error, reason) = (
                ErrorCode.MalformedBatch,
                "the batch's producer id and epoch are not those that this stream was given; without a producer name "
                    + "both are 0"
            );
        }
        else if (!Mutation.NoPayloadCheck && !batch.VerifyPayload())
        {
            (error, reason) = (ErrorCode.MalformedBatch, "the batch's payload does not match its checksum");
        }

        length = batch.Length;
        return error == ErrorCode.None;
    }

    /// <summary>
    /// Whether a batch says that it is this stream's producer's. Recovery finds out from headers what named producers
    /// have published. Which epoch of its own a named one may say depends on the log.
    /// </summary>
    private bool IsOwn(in BatchView batch) =>
        _state is null ? batch is { ProducerId: 0, ProducerEpoch: 0 } : batch.ProducerId == _state.Id;

    /// <summary>Checks batches up to the first that is refused.</summary>
    private void CheckAll(
        ReadOnlySpan<byte> run,
        out int valid,
        out int batches,
        out ErrorCode error,
        out string reason
    )
    {
        (valid, batches, error, reason) = (0, 0, ErrorCode.None, "");
        while (valid < run.Length && CheckOne(run[valid..], out int length, out error, out reason))
        {
            valid += length;
            batches++;
        }
    }

    private static int LengthOf(ReadOnlySpan<byte> run, int batches)
    {
        int length = 0;
        for (; batches > 0 && BatchView.TryRead(run[length..], out BatchView batch); batches--)
            length += batch.Length;
        return length;
    }

    private void ScheduleOutput()
    {
        // Pairs with the fence in Partition.OnProgress: either this thread sees the moved end, or that one the waiting
        // ack.
        Interlocked.MemoryBarrier();
        bool waiting = _acks.TryPeek(out PendingAck ack);
        // Credit travels with acks. It is worth a send of its own only when much of the window is owed, or no ack is on
        // its way.
        bool owes = waiting ? _creditOwed >= _window / CreditShare : _creditOwed != 0;
        if (owes || (waiting && ack.Position <= _partition.Log.PositionOf(AckLevel)))
            Schedule();
    }

    private void LockAndScheduleOutput()
    {
        lock (_acks)
            ScheduleOutput();
    }

    private void AppendOrWait(ReadOnlySpan<byte> run)
    {
        if (run.IsEmpty)
            return;
        int appended = _pending.IsEmpty ? Append(run) : 0;
        if (appended == run.Length || _broken)
            return;
        if (_pending.TryAdd(run[appended..], out string reason))
        {
            DrainPending();
        }
        else
        {
            Break(
                RangeOf(_pending.IsEmpty ? run[appended..] : _pending.First, ErrorCode.ResourceExhausted),
                ErrorCode.ResourceExhausted,
                reason
            ); // Frees the memory of the waiting batches.
        }
    }

    /// <summary>
    /// Appends what waits; registers for room before the last try, so that room made meanwhile is not missed.
    /// </summary>
    private void DrainPending()
    {
        bool registered = false;
        while (!_pending.IsEmpty && !_broken && !IsReleased)
        {
            ReadOnlySpan<byte> first = _pending.First;
            int length = first.Length;
            int appended = Append(first);
            if (_broken)
                return;
            if (appended != 0)
                _pending.Remove(appended);
            if (appended == length)
                continue;
            if (registered || _batches is { IsFull: true })
                return;
            _partition.AwaitRoom(this);
            registered = true;
        }
        if (_refusal is { } refusal && !_broken)
            Break(refusal.Range, refusal.Error, refusal.Reason);
    }

    private void Resume()
    {
        lock (_acks)
        {
            DrainPending();
            ScheduleOutput();
        }
        _partition.FlushAndWake();
    }

    /// <summary>Appends as much of <paramref name="run"/> as the log takes, under its append lock.</summary>
    private int Append(ReadOnlySpan<byte> run)
    {
        int done = 0;
        var merged = default(PendingAck);
        ErrorCode error = ErrorCode.None;
        lock (_partition.AppendLock)
        {
            long time = _partition.NextAppendTime();
            while (done < run.Length && _batches is not { IsFull: true })
            {
                BatchView.TryRead(run[done..], out BatchView batch);
                StoredBatch stored = StoredBatch.None;
                bool hasId = (batch.Flags & BatchLayout.HasMessageId) != 0;
                if ((_state is not null || hasId) && (error = CheckStored(batch, time, out stored)) != ErrorCode.None)
                    break;
                if (stored.Refusal != ErrorCode.None && !_refusesAlone)
                {
                    error = stored.Refusal; // Its producer knew of refusals on an earlier connection.
                    break;
                }
                if (!stored.IsAny && (error = _partition.CheckAsked(batch, _user)) != ErrorCode.None)
                {
                    if (!_refusesAlone)
                        break;
                    stored = RefuseAlone(batch, error, time);
                    error = ErrorCode.None;
                }
                if (!stored.IsAny)
                {
                    AppendResult result = _partition.Append(batch, time, out long offset, _user);
                    if (result == AppendResult.Full)
                        break;
                    if (result != AppendResult.Appended)
                    {
                        error =
                            result == AppendResult.DiskFull
                                ? ErrorCode.DiskFull
                                : _partition.End?.Code ?? _partition.Log.FailureCode;
                        break;
                    }
                    stored = new StoredBatch(offset, IsDuplicate: false);
                    _state?.Remember(ProducerState.Remembered.Of(batch, offset), time);
                    if (hasId)
                        _partition.Remember(offset, time);
                }
                Merge(
                    ref merged,
                    new AckRange(
                        batch.BaseSequence,
                        (uint)batch.RecordCount,
                        stored.Refusal,
                        stored.Offset,
                        stored.IsDuplicate,
                        IsAlone: stored.Refusal != ErrorCode.None,
                        IsUnchecked: hasId && stored.Offset >= 0 && !stored.IsDuplicate && !_partition.ChecksIds
                    )
                );
                _batches?.Store();
                done += batch.Length;
            }
        }
        if (merged.Batches != 0)
            Enqueue(merged);
        _creditOwed += done;
        if (error != ErrorCode.None)
        {
            // A partition that is led elsewhere refuses nothing for good: the producer sends it there.
            AckRange? refused = error == ErrorCode.NotLeader ? null : RangeOf(run[done..], error);
            string reason =
                _partition.End is { } end && end.Code == error
                    ? end.Message
                    : _partition.Log.Failure ?? Describe(error);
            Break(refused, error, reason);
        }
        return done;
    }

    /// <summary>
    /// Adds what became of a batch. What was stored before is acknowledged when all is safe that the log has: that is
    /// behind it.
    /// </summary>
    private void Merge(ref PendingAck merged, in AckRange range)
    {
        long position = range.IsDuplicate && Mutation.AckDuplicateAtOnce ? _lastAck : _partition.Log.EndPosition;
        bool isContinued = merged.Batches != 0 && merged.Range.IsContinuedBy(range);
        if (merged.Batches != 0 && !isContinued)
            Enqueue(merged);
        merged = isContinued
            ? new PendingAck(
                position,
                merged.Range with
                {
                    Count = merged.Range.Count + range.Count,
                },
                merged.Batches + 1
            )
            : new PendingAck(position, range, 1);
    }

    /// <summary>The topic does not take a batch: its numbers are used, and the stream goes on behind it.</summary>
    private StoredBatch RefuseAlone(in BatchView batch, ErrorCode error, long time)
    {
        _state?.RememberRefused(batch, error, time);
        _ = Describe(error); // Counts the limits that refuse.
        return StoredBatch.Refused(error);
    }

    private void Enqueue(in PendingAck ack)
    {
        _acks.Enqueue(ack);
        _lastAck = ack.Position;
    }

    private ErrorCode CheckStored(in BatchView batch, long time, out StoredBatch stored)
    {
        stored = StoredBatch.None;
        return _state is not null && _state.Epoch != _producerEpoch
            ? ErrorCode.Fenced
            : DuplicateCheck.Check(_partition, _state, batch, time, _user, _refusesAlone, out stored);
    }

    /// <summary>Breaks the stream at a batch, behind what waits in front of it: that was good and is stored.</summary>
    private void Refuse(ReadOnlySpan<byte> refused, ErrorCode error, string reason)
    {
        if (_broken)
            return; // An earlier batch broke it.
        if (_pending.IsEmpty)
            Break(RangeOf(refused, error), error, reason);
        else
            _refusal = new Refusal(RangeOf(refused, error), error, reason);
    }

    /// <summary>
    /// Ends the stream behind the acks of what is stored, and of what is refused; at once when there will be none.
    /// </summary>
    private void Break(AckRange? refused, ErrorCode error, string reason)
    {
        bool isAnswered = _lastAck <= _partition.Log.PositionOf(AckLevel);
        _broken = true;
        _pending.Clear();
        if (refused is { } range)
            Enqueue(new PendingAck(_lastAck, range, 0));
        StreamClose close = _partition.CloseOf(error, reason);
        if (isAnswered || error is ErrorCode.TopicFailed or ErrorCode.TopicDeleted or ErrorCode.NotLeader)
            RequestClose(close);
        else
            _end = close;
    }

    private static AckRange? RangeOf(ReadOnlySpan<byte> refused, ErrorCode error)
    {
        if (refused.Length < BatchLayout.HeaderSize)
            return null;
        var batch = new BatchView(refused);
        return new AckRange(batch.BaseSequence, (uint)batch.RecordCount, error, -1);
    }

    private string Describe(ErrorCode error) =>
        error switch
        {
            ErrorCode.ResourceExhausted or ErrorCode.InvalidArgument => _partition.Delays!.Describe(error, _user),
            ErrorCode.NotSupported =>
                $"the topic '{_partition.Topic.Name}' is transient: only durable topics deliver messages later",
            ErrorCode.MessageTooLarge => "the batch is longer than the topic allows",
            ErrorCode.Fenced => "a newer producer of this name has taken over",
            ErrorCode.OutOfOrder => "the batch leaves a gap behind what is stored of this producer",
            ErrorCode.SequenceOverlap =>
                $"the batch overlaps what is stored of this producer and is not the same in count and bytes, or is "
                    + $"older than the last {ProtocolLimits.RememberedBatches}, which the broker remembers",
            ErrorCode.UnknownProducer => "the batch's producer epoch was never given out",
            ErrorCode.DiskFull => _partition.Log.FullReason is { } full
                ? $"the replicated log takes nothing: {full}; publishing resumes when it has room"
                : "the disk is full; publishing resumes when space returns",
            _ => "the topic's log has failed",
        };

    /// <summary>An ack that waits for its durability, of so many batches; of none when they are refused.</summary>
    private readonly record struct PendingAck(long Position, AckRange Range, int Batches);

    /// <summary>Why nothing more is taken, once what waits is stored.</summary>
    private sealed record Refusal(AckRange? Range, ErrorCode Error, string Reason);

    private sealed class ResumeItem(ProducerStream stream) : WorkItem
    {
        public override void Run() => stream.Resume();
    }
}
