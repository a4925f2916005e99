using System.Buffers;
using LightQ.Client.Batches;
using LightQ.Client.Connections;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Publishing;

/// <summary>
/// A producer's engine: fills batches, keeps to the window, numbers and sends batches, matches acks, survives
/// reconnects.
/// </summary>
/// <remarks>
/// Thread-safe. A batch goes open (being filled) - sealed (complete, waits for the sender) - in flight (sent, waits for
/// its ack). There is no linger: the sender takes the open batch whenever no sealed one is left, so batches grow by
/// themselves while a send is under way. Sequences are given when a batch is first sent, because an anonymous
/// producer's start anew on each stream.
/// </remarks>
internal sealed class ProducerStream : ClientStream, IOutgoing
{
    private readonly Lock _gate = new();
    private readonly BrokerLinks _links;
    private readonly ProducerOptions _options;
    private readonly PublishCompletionPool _completions = new();
    private readonly PublishQueue _queue;
    private readonly FlushWaiters _flushes = new();
    private readonly Compressor? _compressor;
    private readonly WaitingPublishes _waiting;
    private readonly PublishOutcomes _outcomes;
    private readonly TaskCompletionSource<LightQException?> _firstAnswer = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );
    private LightQException? _fault;
    private LightQException? _retired; // New messages go to another producer; what is under way goes on.
    private LightQException? _refusal; // Of one of several partitions, until a later connection opens it.
    private Connection? _connection;
    private Connection? _clock;
    private bool _isOpened,
        _wasOpened;
    private bool _isScheduled;
    private ProducerOpenedFrame _opened;
    private TopicLimits _limits;
    private readonly TaskCompletionSource<LightQException> _life;
    private readonly ProducerIdentity _identity;
    private bool _isReturning;
    private uint _partition;
    private uint _stream;

    /// <summary>
    /// Makes a stream to one partition; null has the broker choose it. What <paramref name="isReturning"/> is,
    /// <see cref="OpenProducerFrame"/> says. The <paramref name="life"/> and the <paramref name="identity"/> are its
    /// producer's: see <see cref="Producer.Ended"/>.
    /// </summary>
    public ProducerStream(
        BrokerLinks links,
        string topic,
        int? partition,
        ProducerOptions options,
        SendBatchPool? batches,
        TaskCompletionSource<LightQException> life,
        ProducerIdentity identity,
        bool isReturning
    )
    {
        (_links, _options, _life, _identity, _isReturning) = (links, options, life, identity, isReturning);
        _compressor = Compressor.Create(options);
        _partition = partition is { } wanted ? (uint)wanted : OpenProducerFrame.AnyPartition;
        _queue = new PublishQueue(
            options.BatchBytes,
            isRepeatable: options.Name is not null,
            links.Options.TimeProvider,
            batches
        );
        _waiting = new WaitingPublishes(_queue, _flushes);
        Operations = new PublishOperations(links.Options, topic);
        _outcomes = new PublishOutcomes(_queue, _waiting, _flushes, Operations, identity);
        Topic = topic;
    }

    public override string Topic { get; }

    public override int? WantedPartition => _partition == OpenProducerFrame.AnyPartition ? null : Partition;

    /// <summary>What spans and measurements say of it.</summary>
    public PublishOperations Operations { get; }

    public int Partition => (int)_partition;

    /// <summary>The time, in unix microseconds: the broker's if it is known, otherwise this machine's.</summary>
    public long Now =>
        Volatile.Read(ref _clock)?.Time?.Now ?? UnixMicroseconds.From(_links.Options.TimeProvider.GetUtcNow());

    /// <summary>How many partitions the topic has.</summary>
    public int PartitionCount => (int)_opened.PartitionCount;

    /// <summary>How the topic's keys map to partitions.</summary>
    public byte KeyHashVersion => _opened.KeyHashVersion;

    /// <summary>
    /// The router that this stream is one partition of; null when it is all of its producer, bound to a partition or
    /// not.
    /// </summary>
    public PartitionRouter? Router { get; set; }

    /// <summary>
    /// Completes when the broker has answered for the first time: with nothing, or with why it does not serve this one
    /// of several partitions.
    /// </summary>
    public Task<LightQException?> FirstAnswer => _firstAnswer.Task;

    /// <summary>
    /// Why it takes no messages, as far as is known: for good, or, of one of several partitions, until a later
    /// connection opens it.
    /// </summary>
    public LightQException? Failure => Volatile.Read(ref _fault) ?? Volatile.Read(ref _refusal);

    /// <summary>Whether it takes no messages for good, so that none of its producer's do.</summary>
    public bool IsBroken => Volatile.Read(ref _fault) is not null || Volatile.Read(ref _retired) is not null;

    /// <summary>Whether nothing is under way.</summary>
    public bool IsIdle
    {
        get
        {
            lock (_gate)
                return _waiting.IsEmpty && _queue.IsEmpty;
        }
    }

    public override bool HasUnanswered
    {
        get
        {
            lock (_gate)
                return _queue.HasUnanswered;
        }
    }

    private bool IsNamed => _options.Name is not null;

    public bool TryPublish(ReadOnlySpan<byte> body)
    {
        Connection? schedule;
        lock (_gate)
        {
            if (
                (!_waiting.IsEmpty || body.Length > _opened.MaxMessageBytes || !_queue.TryAddToOpen(body))
                && !TryPublishSlowly(body, default, null, default)
            )
            {
                return false;
            }

            _flushes.Accept(1);
            schedule = TakeSchedule();
        }
        schedule?.Outbox.Schedule(this, mayDirect: true);
        return true;
    }

    public bool TryPublish(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties
    )
    {
        Connection? schedule;
        lock (_gate)
        {
            if (!TryPublishSlowly(body, key, headers, properties))
                return false;
            _flushes.Accept(1);
            schedule = TakeSchedule();
        }
        schedule?.Outbox.Schedule(this, mayDirect: true);
        return true;
    }

    public ValueTask<PublishAck> PublishAsync(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties,
        CancellationToken cancellationToken
    )
    {
        if (cancellationToken.IsCancellationRequested)
            return ValueTask.FromCanceled<PublishAck>(cancellationToken);
        Connection? schedule;
        ValueTask<PublishAck> task;
        lock (_gate)
        {
            ThrowIfFaulted();
            int length = Check(body.Length, key, headers, properties);
            PublishCompletion completion = _completions.Rent();
            completion.Start(cancellationToken);
            task = completion.Task;
            _flushes.Accept(1);
            if (_waiting.IsEmpty && _queue.TryAdd(body, key, headers, length, properties))
            {
                _queue.AddWaiter(completion);
            }
            else
            {
                byte[] record = ArrayPool<byte>.Shared.Rent(length);
                SendBatch.WriteRecord(record, body, key, headers is null ? default : headers.Encoded);
                _waiting.Add(new WaitingPublish(record, length, null, completion, properties));
            }
            schedule = TakeSchedule();
        }
        schedule?.Outbox.Schedule(this, mayDirect: true);
        return task;
    }

    /// <summary>An empty batch for a builder.</summary>
    public SendBatch RentBatch(in BatchProperties properties)
    {
        lock (_gate)
            return _queue.Rent(properties);
    }

    public bool TryPublish(SendBatch batch)
    {
        Connection? schedule;
        lock (_gate)
        {
            ThrowIfFaulted();
            _flushes.ThrowUnreported();
            if (!_waiting.IsEmpty || !_queue.TryQueue(batch))
                return false;
            _flushes.Accept(batch.Count);
            schedule = TakeSchedule();
        }
        schedule?.Outbox.Schedule(this, mayDirect: true);
        return true;
    }

    public ValueTask<PublishAck> PublishAsync(SendBatch batch, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
            return ValueTask.FromCanceled<PublishAck>(cancellationToken);
        Connection? schedule;
        ValueTask<PublishAck> task;
        lock (_gate)
        {
            ThrowIfFaulted();
            PublishCompletion completion = _completions.Rent();
            completion.Start(cancellationToken);
            task = completion.Task;
            batch.AddWaiter(completion, batch.Count);
            _flushes.Accept(batch.Count);
            if (!_waiting.IsEmpty || !_queue.TryQueue(batch))
                _waiting.Add(new WaitingPublish(null, 0, batch, completion));
            schedule = TakeSchedule();
        }
        schedule?.Outbox.Schedule(this, mayDirect: true);
        return task;
    }

    /// <summary>Whether a record of so many bytes and these times goes into a batch that others have begun.</summary>
    public bool IsFilling(int recordLength, in BatchProperties properties)
    {
        lock (_gate)
            return _waiting.IsEmpty && _queue.FitsOpen(recordLength, properties);
    }

    /// <summary>Whether the topic takes a record of so many bytes and these times.</summary>
    /// <exception cref="LightQException">
    /// The broker has not served the partition yet, so the limit is not known.
    /// </exception>
    public bool Fits(long recordLength, in BatchProperties properties)
    {
        if (_opened.MaxBatchBytes == 0)
            ThrowIfFaulted();
        return _limits.IsShortEnough(recordLength, properties);
    }

    /// <summary>Throws when the topic takes no messages with these times.</summary>
    public void CheckTimes(in BatchProperties properties) => _limits.DemandTimes(properties);

    /// <summary>Whether an ordinary batch can be begun.</summary>
    public bool HasRoom()
    {
        lock (_gate)
            return Failure is null && _waiting.IsEmpty && _queue.HasRoomForBatch;
    }

    public ValueTask WaitForRoomAsync(CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
            return ValueTask.FromCanceled(cancellationToken);
        lock (_gate)
        {
            ThrowIfFaulted();
            if (_waiting.IsEmpty && _queue.HasRoomForBatch)
                return ValueTask.CompletedTask;
            PublishCompletion completion = _completions.Rent();
            completion.Start(cancellationToken);
            _waiting.Add(new WaitingPublish(null, 0, null, completion));
            return completion.UntypedTask;
        }
    }

    public Task FlushAsync()
    {
        lock (_gate)
            return _flushes.WaitAsync();
    }

    /// <summary>Ends the stream: what has no outcome yet fails with <see cref="ErrorCode.Closed"/>.</summary>
    public void Close()
    {
        _links.Detach(this);
        lock (_gate)
        {
            _life.TrySetCanceled();
            Leave();
            Fault(new LightQException(ErrorCode.Closed, "The producer was disposed."), ErrorCode.Closed);
        }
    }

    /// <summary>It takes nothing new; what is under way goes on until the stream is closed.</summary>
    public void Retire()
    {
        lock (_gate)
        {
            _queue.SealOpen();
            _retired ??= new LightQException(ErrorCode.Closed, "The producer was given up.");
        }
    }

    /// <summary>Ends the stream because another one of its producer has failed for good.</summary>
    public void FaultWith(LightQException reason)
    {
        lock (_gate)
        {
            if (_fault is not null)
                return;
            Leave();
            End(reason);
            _outcomes.RejectUnanswered(reason);
            Fault(reason, reason.Code);
        }
    }

    /// <inheritdoc/>
    public bool TakeForSend(Outbox from, List<ArraySegment<byte>> segments, List<SendBatch> held, int maxSegments)
    {
        int first = held.Count;
        uint stream,
            epoch;
        ulong producerId;
        bool more,
            hasBrokerClock;
        lock (_gate)
        {
            if (_connection?.Outbox != from)
                return false; // Scheduled before the stream moved to another connection.
            hasBrokerClock = _connection.HasBrokerClock;
            _isScheduled = false;
            (stream, epoch, producerId) = (_stream, _opened.ProducerEpoch, _opened.ProducerId);
            while (
                segments.Count + held.Count - first < (_queue.IsNextSmall ? PublishFrames.MostSegments : maxSegments)
                && CanSend(mayTakeOpen: held.Count == first)
            )
            {
                held.Add(_queue.Send());
            }

            more = CanSend(mayTakeOpen: true);
            _isScheduled = more;
        }
        for (int i = first; i < held.Count; i++)
            held[i].Complete(stream, producerId, epoch, hasBrokerClock, _compressor);
        PublishFrames.Add(segments, held, first, _limits.MaxBatchBytes);
        return _compressor is null ? more : Shrink(held, first, stream, more);
    }

    public override void Open(Connection connection)
    {
        lock (_gate)
        {
            if (_fault is not null)
                return;
            OnOpening();
            (_connection, _isOpened) = (connection, false);
            Volatile.Write(ref _clock, connection);
            if (_options.AckLevel == Durability.Replicated && !connection.HasCluster)
            {
                FaultWithoutCluster(connection);
                return;
            }
            _stream = connection.Register(this);
            connection.Outbox.Write(_identity.Open(Topic, _partition, _isReturning), _stream, _stream);
        }
    }

    public override void OnFrame(Connection connection, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        Connection? schedule;
        lock (_gate)
        {
            if (header.Stream != _stream || connection != _connection)
                return;
            switch (header.Type)
            {
                case FrameType.PublishAck:
                    OnAck(new PublishAckFrame(body));
                    break;
                case FrameType.Credit:
                    _queue.Credit(FrameCodec.Read<CreditFrame>(body).Bytes);
                    break;
                case FrameType.ProducerOpened:
                    OnOpened(connection, FrameCodec.Read<ProducerOpenedFrame>(body));
                    break;
                case FrameType.Closed:
                    OnStreamClosed(FrameCodec.Read<ClosedFrame>(body));
                    break;
                default:
                    throw new ProtocolException(
                        ErrorCode.UnexpectedFrame,
                        $"A producer stream does not get {header.Type}."
                    );
            }
            _waiting.Admit();
            schedule = TakeSchedule();
        }
        schedule?.Outbox.Schedule(this, mayDirect: false);
    }

    public override void OnDisconnected(LightQException reason)
    {
        lock (_gate)
        {
            (_connection, _isOpened, _isScheduled) = (null, false, false);
            if (IsNamed)
                return;
            _outcomes.RejectUnanswered(
                ErrorCode.OutcomeUnknown,
                $"The connection was lost before the ack: {reason.Message}"
            );
            _waiting.Admit();
        }
    }

    public override void OnOtherLeader(Connection connection, in ClosedFrame closed)
    {
        lock (_gate)
        {
            if (_connection != connection || !_wasOpened || _fault is not null || closed.Epoch <= Hints.Newest)
                return;
            if (_isOpened)
                connection.Outbox.Write(new CloseFrame(ErrorCode.None, ""), _stream);
            OnStreamClosed(closed, isKnown: true);
            _waiting.Admit();
        }
    }

    public override void OnMoved()
    {
        lock (_gate)
            (_connection, _isOpened, _isScheduled) = (null, false, false);
    }

    public override void OnClosed(LightQException reason)
    {
        lock (_gate)
        {
            _connection = null;
            if (reason.Code == ErrorCode.Closed)
                _life.TrySetCanceled(); // With its client.
            Fault(reason, reason.Code);
        }
    }

    /// <summary>
    /// Counts batches at the length that compression gave them, which makes room for more; on another stream they wait
    /// to be sent again, and are counted then.
    /// </summary>
    private bool Shrink(List<SendBatch> held, int first, uint stream, bool isScheduled)
    {
        lock (_gate)
        {
            if (stream != _stream || !_isOpened)
                return isScheduled;
            for (int i = first; i < held.Count; i++)
                _queue.Shrink(held[i]);
            _waiting.Admit();
            return isScheduled || TakeSchedule() is not null;
        }
    }

    private bool TryPublishSlowly(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties
    )
    {
        ThrowIfFaulted();
        _flushes.ThrowUnreported();
        int length = Check(body.Length, key, headers, properties);
        return _waiting.IsEmpty && _queue.TryAdd(body, key, headers, length, properties);
    }

    /// <summary>Finds out here what the broker would refuse the message for.</summary>
    private int Check(int bodyLength, in MessageKey key, MessageHeaders? headers, in BatchProperties properties)
    {
        int length = SendBatch.RecordLength(bodyLength, key, headers);
        if (!Fits(length, properties))
            throw _limits.TooLarge(length);
        CheckTimes(properties);
        return length;
    }

    private void ThrowIfFaulted()
    {
        if ((_fault ?? _refusal ?? _retired) is { } reason)
            throw reason.Copy();
    }

    /// <summary>
    /// Claims the right to schedule this producer, if there is something to send and no other thread has it.
    /// </summary>
    private Connection? TakeSchedule()
    {
        if (_isScheduled || !CanSend(mayTakeOpen: true))
            return null;
        _isScheduled = true;
        return _connection;
    }

    private bool CanSend(bool mayTakeOpen) => _isOpened && !_connection!.IsLeaving && _queue.CanSend(mayTakeOpen);

    private void OnAck(in PublishAckFrame frame)
    {
        if (_outcomes.Take(frame, Topic, Partition, out ErrorCode error) is { } refused)
            Break(refused, error, Refusal.Describe(Topic, error));
    }

    private void OnOpened(Connection connection, in ProducerOpenedFrame opened)
    {
        if (_wasOpened && opened.PartitionCount != _opened.PartitionCount && _options.Partition is null)
        {
            Leave();
            LightQException reason = Refusal.OtherPartitions(Topic, opened.PartitionCount, _opened.PartitionCount);
            End(reason);
            _outcomes.RejectUnanswered(ErrorCode.OutcomeUnknown, "The topic was deleted before the ack.");
            FaultProducer(reason, reason.Code);
            return;
        }
        bool sameLog =
            !IsNamed || (opened.ProducerId == _opened.ProducerId && opened.Incarnation == _opened.Incarnation);
        var limits = TopicLimits.Of(Topic, opened, connection.MaxBatchBytes);
        bool isNarrower = _wasOpened && limits.IsNarrowerThan(_limits);
        (_opened, _partition, Operations.Partition) = (opened, opened.Partition, (int)opened.Partition);
        _limits = limits;
        _queue.Open((int)Math.Min(opened.WindowBytes, int.MaxValue), limits.MaxBatchBytes, opened.BatchWindow);
        if (_wasOpened)
            _outcomes.Resume(opened.NextSequence, mayResend: IsNamed && sameLog);
        else
            _queue.Begin(opened.NextSequence);
        if (isNarrower)
            new PublishSieve(_queue, _waiting, _outcomes, _flushes, limits).Sift();
        _isOpened = _wasOpened = _isReturning = true;
        Hints.OnOpened(opened.Epoch);
        _refusal = null;
        _firstAnswer.TrySetResult(null);
    }

    /// <param name="closed">Why it is closed.</param>
    /// <param name="isKnown">Whether the cluster's metadata has named the leader.</param>
    private void OnStreamClosed(in ClosedFrame closed, bool isKnown = false)
    {
        var reason = new LightQException(
            closed.Code == ErrorCode.None ? ErrorCode.Closed : closed.Code,
            closed.Message
        );
        (bool wasOpened, _isOpened) = (_isOpened, false);
        _connection!.Unregister(_stream);
        if (_identity.Passes(closed, _isReturning))
        {
            Open(_connection);
            return;
        }
        bool isRefused = !wasOpened && Router is not null && PartitionRefusal.Is(reason.Code);
        bool isElsewhere = IsOpenedElsewhere(reason, _wasOpened, _links.Options);
        if (isElsewhere)
            ClientLog.Moves(_links.Logger, WantedPartition, Topic, closed.Address, reason.Message);
        else if (isRefused || (_wasOpened && reason.IsTransient))
            ClientLog.ProducerFailed(_links.Logger, Topic, reason.Code, reason.Message);
        if (isRefused || (!isElsewhere && _firstAnswer.TrySetException(reason)) || !reason.IsTransient)
        {
            if (!isRefused)
                End(reason);
            // What was sent before a lost connection may be stored; of an open stream the broker's reason is the
            // outcome.
            if (!wasOpened && reason.Code is not (ErrorCode.TopicDeleted or ErrorCode.UnknownTopic))
            {
                _outcomes.RejectUnanswered(reason);
            }

            if (isRefused)
            {
                // The other partitions go on, and every connection asks for this one again.
                (_refusal, _) = (reason, _firstAnswer.TrySetResult(reason));
                _outcomes.RejectAll(reason.Code, reason.Message);
                return;
            }
            FaultProducer(reason, reason.Code);
            return;
        }
        if (wasOpened && !IsNamed)
        {
            _outcomes.RejectUnanswered(
                ErrorCode.OutcomeUnknown,
                $"The broker closed the stream before the ack: {reason.Message}"
            );
        }

        _links.ReopenLater(this, _connection, closed, isKnown);
    }

    /// <summary>The broker's protocol has no level 'replicated': asked for it, it would end the connection.</summary>
    private void FaultWithoutCluster(Connection connection)
    {
        _connection = null;
        LightQException reason = Refusal.NoCluster(connection.Broker.ToString());
        End(reason);
        _outcomes.RejectUnanswered(reason);
        FaultProducer(reason, reason.Code);
    }

    /// <summary>
    /// The broker stores nothing behind an error that ends the stream: what is under way fails, and the stream is
    /// opened anew. What a producer with a name has sent behind messages that were refused is sent again instead.
    /// </summary>
    private void Break(SendBatch first, ErrorCode code, string message)
    {
        Leave();
        if (Refusal.EndsProducer(code))
        {
            End(new LightQException(code, message));
            _outcomes.Reject(first, code, message);
            FaultProducer(new LightQException(code, message), ErrorCode.StreamBroken);
            return;
        }
        ClientLog.ProducerFailed(_links.Logger, Topic, code, message);
        _outcomes.Reject(first, code, message);
        if (!IsNamed || !Refusal.IsOfMessages(code))
        {
            _outcomes.RejectAll(
                ErrorCode.StreamBroken,
                $"An earlier message of this producer was refused, so this one was not stored: {message}"
            );
        }
        Open(_connection!);
    }

    /// <summary>
    /// As <see cref="Fault"/>; what holds for the name or the topic ends the producer's other partitions, too.
    /// </summary>
    private void FaultProducer(LightQException reason, ErrorCode code)
    {
        Fault(reason, code);
        if (Refusal.EndsProducer(reason.Code))
            Router?.FaultAll(reason);
    }

    /// <summary>Tells the broker, if it is there, that the stream ends.</summary>
    private void Leave()
    {
        if (_connection is null)
            return;
        _connection.Outbox.Write(new CloseFrame(ErrorCode.None, ""), _stream);
        _connection.Unregister(_stream);
    }

    /// <summary>It takes no messages for good; whoever learns that one failed finds it ended.</summary>
    private void End(LightQException reason)
    {
        _fault ??= reason;
        _isOpened = false;
        if (_wasOpened && _life.TrySetResult(reason))
            _links.OnProducerEnded(Topic, _options.Name, reason);
    }

    private void Fault(LightQException reason, ErrorCode code)
    {
        End(reason);
        _firstAnswer.TrySetException(reason);
        _outcomes.RejectAll(code, reason.Message);
    }
}
