using LightQ.Client.Connections;
using LightQ.Client.Telemetry;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>A subscription's engine: what it is delivered goes to its consumer's queue, bounded by credit.</summary>
/// <remarks>
/// Thread-safe, under its consumer's gate. After a reconnect it resumes behind the last batch that was queued.
/// </remarks>
internal sealed class Subscription : ClientStream
{
    private readonly Consumer _consumer;
    private readonly Lock _gate;

    /// <summary>A partition that changes its leader is not subscribed to for a moment.</summary>
    private static readonly TimeSpan LongestUnsubscribed = TimeSpan.FromSeconds(5);

    private readonly BrokerLinks _links;
    private readonly uint _partition;
    private readonly TaskCompletionSource<LightQException?> _firstAnswer = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );
    private Connection? _connection;
    private Connection? _clock;
    private long _firstWantedOffset;
    private long _caughtUpAt = long.MaxValue;
    private int _creditBytes;
    private WindowFrame _window;
    private Delivery _batch;
    private bool _isBatchUnread;
    private bool _isClosed;
    private bool _wasOpened;
    private bool _isSubscribed;
    private long _unsubscribedAt;
    private uint _stream;
    private Settlements? _settlements;
    private long _heldBytes;
    private long _releasedBytes;
    private long _lastOffset = -1;
    private uint _lastEpoch;
    private ulong _incarnation;
    private uint _logEpoch;
    private ulong _logIncarnation;

    /// <param name="links">The client's connections.</param>
    /// <param name="consumer">The consumer it is a part of.</param>
    /// <param name="partition">The partition, or all of them where that is one.</param>
    /// <param name="creditBytes">What may be delivered ahead of the consumer.</param>
    public Subscription(BrokerLinks links, Consumer consumer, uint partition, int creditBytes)
    {
        _links = links;
        _consumer = consumer;
        _gate = consumer.Gate;
        _partition = partition;
        _creditBytes = creditBytes;
        _window = consumer.FirstWindow;
        _unsubscribedAt = links.Options.ConnectionTime.GetTimestamp();
        Operations = new ConsumeOperations(
            new OperationPlace(links.Options, consumer.Topic, Partition, consumer.Options.Group)
        );
    }

    public override string Topic => _consumer.Topic;

    public override int? WantedPartition => _partition == OpenProducerFrame.AnyPartition ? null : Partition;

    /// <summary>What spans and measurements say of it.</summary>
    public ConsumeOperations Operations { get; }

    public override int? LedPartition => Partition;

    /// <summary>The partition; all of them are partition 0.</summary>
    public int Partition => _partition == OpenProducerFrame.AnyPartition ? 0 : (int)_partition;

    /// <summary>How many partitions the topic has, once it is subscribed to.</summary>
    public int PartitionCount { get; private set; }

    /// <summary>One behind the last offset that the reader has read, or passed over; the reader's own.</summary>
    public long ExpectedOffset { get; set; }

    /// <summary>
    /// Whether the reader has got to where the log ended when it was last subscribed to. False before it is. The
    /// reader's own.
    /// </summary>
    public bool HasCaughtUp => ExpectedOffset >= _caughtUpAt;

    public override bool HasUnanswered
    {
        get
        {
            lock (_gate)
                return _settlements is { HasUnanswered: true };
        }
    }

    public ConsumeOptions Options => _consumer.Options;

    private StartPosition Start => Options.StartOf(Partition);

    /// <summary>Messages that were delivered to a member of a group and are not settled. Guarded by the gate.</summary>
    public int Held => _settlements?.Locks?.Open ?? 0;

    /// <summary>
    /// Whether the broker takes messages back that nobody has seen; true without a connection. Guarded by the gate.
    /// </summary>
    public bool CanReturn => _settlements is not { CanReturn: false };

    /// <summary>
    /// Completes when the broker has answered for the first time: with nothing, or with why it does not serve this one
    /// of several partitions.
    /// </summary>
    public Task<LightQException?> FirstAnswer => _firstAnswer.Task;

    /// <summary>Why the broker does not serve the partition; null while it does. Guarded by the gate.</summary>
    public LightQException? Refusal { get; private set; }

    /// <summary>Why the partition gives nothing; null while it does, as far as is known. Guarded by the gate.</summary>
    public LightQException? Lack
    {
        get
        {
            if (Refusal is not null)
            {
                return new LightQException(
                    Refusal.Code,
                    $"partition {Partition} is refused ({Refusal.Code}): {Refusal.Message}"
                );
            }
            TimeProvider time = _links.Options.ConnectionTime;
            return _isSubscribed || _isClosed || time.GetElapsedTime(_unsubscribedAt) < LongestUnsubscribed
                ? null
                : new LightQException(
                    ErrorCode.Unavailable,
                    $"partition {Partition} has not been subscribed to for "
                        + $"{(int)time.GetElapsedTime(_unsubscribedAt).TotalSeconds} s"
                );
        }
    }

    /// <summary>Messages before this offset are not wanted: a batch that begins before it comes whole.</summary>
    public long FirstWantedOffset => Volatile.Read(ref _firstWantedOffset);

    /// <summary>
    /// Whether the batch last read was whole; a delivery that leaves its batch out speaks of that one. Belongs to the
    /// reader.
    /// </summary>
    public bool IsBatchSound { get; set; }

    /// <summary>
    /// Whether the batch last delivered was not looked at: the lock of the delivery that brought it had run out. The
    /// next may leave the batch out. Belongs to the reader.
    /// </summary>
    public bool MustReadBatch { get; set; }

    public override void Open(Connection connection)
    {
        lock (_gate)
        {
            if (_isClosed || _consumer.HasEnded || _firstAnswer.Task.IsFaulted)
                return;
            OnOpening();
            OnUnsubscribed();
            _connection = connection;
            Volatile.Write(ref _clock, connection);
            _stream = connection.Register(this);
            ForgetBatch();
            bool isGroup = Options.Group is not null;
            var completions = new PendingSettlements(_stream, isNoted: isGroup);
            _settlements =
                Options.SettleMode == SettleMode.Explicit
                    ? new Settlements(connection.Outbox, completions, Topic, isGroup, Operations)
                    {
                        Locks = isGroup
                            ? new HeldLocks(connection.Outbox, completions, _consumer.Time, _consumer.Loop)
                            : null,
                        Late = isGroup ? _consumer.Late : null,
                        CanReturn = isGroup && connection.HasWindow,
                        SaysWhatIsBegun = isGroup && connection.HasWindow,
                        AsksAlways = _links.Options.ConnectionTime != _links.Options.TimeProvider,
                        Source = this,
                    }
                    : null;
            bool resumes = !isGroup && _wasOpened;
            StartKind start = resumes
                ? StartKind.Offset
                : Start.Kind ?? (isGroup ? StartKind.Committed : StartKind.Latest);
            if (isGroup && _wasOpened)
                start = StartKind.Committed;
            connection.Outbox.Write(
                new SubscribeFrame(
                    Topic,
                    _partition,
                    Options.Group ?? "",
                    start,
                    resumes ? _lastOffset + 1 : Start.Value,
                    resumes ? _lastOffset : -1,
                    _lastEpoch,
                    _incarnation,
                    Options.SettleMode,
                    Options.SlowPolicy,
                    connection.HasWindow ? _window.MaxInFlight : (uint)Options.MaxInFlight,
                    _consumer.Member,
                    (uint)(Options.SlowTimeout?.TotalMilliseconds ?? 0),
                    (uint)(Options.LockDuration?.TotalMilliseconds ?? 0),
                    _window.AtATime
                ),
                _stream,
                _stream
            );
            long credit = Math.Max(1, _creditBytes - _heldBytes);
            _releasedBytes = 0;
            connection.Outbox.Write(new CreditFrame((uint)credit), _stream);
        }
    }

    public override void OnFrame(Connection connection, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        SubscriptionStarted? started = null;
        LightQException? ended = null;
        lock (_gate)
        {
            if (header.Stream != _stream || connection != _connection)
                return;
            switch (header.Type)
            {
                case FrameType.Subscribed:
                    started = OnSubscribed(FrameCodec.Read<SubscribedFrame>(body));
                    if (started is not null && Options.OnCaughtUp is not null)
                        _consumer.Enqueue(new Delivery(this, started));
                    break;
                case FrameType.Gap:
                    GapFrame gap = FrameCodec.Read<GapFrame>(body);
                    OnGap(gap);
                    _consumer.Enqueue(
                        new Delivery(
                            this,
                            new MessageGap(Topic, gap.FirstOffset, gap.LastOffset, gap.Reason, Partition)
                        )
                    );
                    break;
                case FrameType.Settled when _settlements is not null:
                    OnSettled(_settlements, header.Tag, new SettledFrame(body));
                    break;
                case FrameType.Closed:
                    ended = OnStreamClosed(FrameCodec.Read<ClosedFrame>(body));
                    break;
                default:
                    throw new ProtocolException(
                        ErrorCode.UnexpectedFrame,
                        $"A subscription does not get {header.Type}."
                    );
            }
        }
        if (started is not null)
            Tell(started);
        if (ended is { Code: ErrorCode.SlowConsumer })
            _consumer.ReportSlow(Partition, ended);
        else if (ended is not null)
            _consumer.ReportRefused(Partition, ended);
        Wake();
    }

    public override bool OnRun(
        Connection connection,
        uint stream,
        ReceiveBlock block,
        int offset,
        int length,
        int lastBatch
    )
    {
        var last = new BatchView(block.Bytes.AsSpan(lastBatch, offset + length - lastBatch));
        bool isSound = last.VerifyHeader();
        lock (_gate)
        {
            if (stream != _stream || connection != _connection || _isClosed)
                return false;
            _heldBytes += length;
            _consumer.Enqueue(
                _consumer.Memory.Take(this, block, offset, length) with
                {
                    Settlements = _settlements,
                    IsUnread = true,
                }
            );
            if (isSound)
                (_lastOffset, _lastEpoch) = (last.NextOffset - 1, last.LeaderEpoch);
            return _consumer.IsAwaited;
        }
    }

    public override bool OnGroupDeliver(Connection connection, in FrameHeader header, ReceiveBlock block, int offset)
    {
        var frame = new GroupDeliverFrame(header.Flags, block.Bytes.AsSpan(offset, header.BodyLength));
        lock (_gate)
        {
            if (header.Stream != _stream || connection != _connection || _isClosed)
                return false;
            Delivery delivery;
            if (frame.HasBatch)
            {
                delivery = _consumer.Memory.Take(this, block, offset + GroupDelivery.Size, frame.Batch.Length);
                ForgetBatch();
                _batch = delivery;
                delivery.Block!.Retain();
                _isBatchUnread = true;
            }
            else
            {
                if (
                    _batch.Block is not { } kept
                    || !frame.IsWithin(new BatchView(kept.Bytes.AsSpan(_batch.Offset, _batch.Length)))
                )
                {
                    throw new ProtocolException(
                        ErrorCode.MalformedFrame,
                        $"A GroupDeliver frame leaves out a batch that it is not within: {frame.Delivery}."
                    );
                }

                delivery = _consumer.Memory.Take(this, kept, _batch.Offset, _batch.Length) with { IsSameBatch = true };
            }
            _heldBytes += delivery.CreditBytes;
            HeldLock? held = _settlements?.Locks?.Add(frame.Delivery);
            if (_settlements is { } settlements)
                settlements.LockTime = TimeSpan.FromMilliseconds(frame.Delivery.LockMilliseconds);
            long until =
                _links.Options.TimeProvider.GetUtcNow().UtcTicks
                + (frame.Delivery.LockMilliseconds * TimeSpan.TicksPerMillisecond);
            _consumer.Enqueue(
                delivery with
                {
                    Settlements = _settlements,
                    Range = frame.Delivery,
                    LockedUntil = until,
                    Held = held,
                    IsUnread = _isBatchUnread,
                }
            );
            _isBatchUnread = false;
            return _consumer.IsAwaited;
        }
    }

    /// <summary>
    /// The broker's clock, in unix microseconds, for a batch that was appended then: whether a message has expired is
    /// not this machine's clock to say. 0 from a broker that does not tell its time.
    /// </summary>
    public long NowFor(long appended) => Volatile.Read(ref _clock)?.Time?.NowFor(appended) ?? 0;

    public override void Wake() => _consumer.Wake();

    public override void OnDisconnected(LightQException reason)
    {
        lock (_gate)
        {
            OnUnsubscribed();
            _connection = null;
            _settlements?.End(reason);
        }
    }

    public override void OnOtherLeader(Connection connection, in ClosedFrame closed)
    {
        lock (_gate)
        {
            if (_connection != connection || !_wasOpened || _isClosed || closed.Epoch <= Hints.Newest)
                return;
            if (_stream != 0)
                connection.Outbox.Write(new CloseFrame(ErrorCode.None, ""), _stream);
            OnStreamClosed(closed, isKnown: true);
        }
        Wake();
    }

    public override void OnMoved()
    {
        lock (_gate)
        {
            OnUnsubscribed();
            _connection = null;
        }
    }

    public override void OnClosed(LightQException reason)
    {
        OnDisconnected(reason);
        End(reason);
    }

    /// <summary>Raises what may be delivered ahead of the consumer.</summary>
    public void Grow(int creditBytes)
    {
        lock (_gate)
        {
            int more = creditBytes - _creditBytes;
            _creditBytes = creditBytes;
            if (more > 0 && _connection is not null && _stream != 0)
                _connection.Outbox.Write(new CreditFrame((uint)more), _stream);
        }
    }

    /// <summary>Gives a run back that nobody looks at.</summary>
    public void Drop(in Delivery run)
    {
        lock (_gate)
        {
            // The next delivery may leave this batch out.
            _isBatchUnread |= run.IsUnread && run.Block == _batch.Block && run.Offset == _batch.Offset;
            Release(run);
        }
    }

    /// <summary>
    /// Sets how many messages may be delivered and not settled, and how many are worked on at a time: at once where the
    /// broker knows how, else from the next connection on.
    /// </summary>
    public void Resize(in WindowFrame window)
    {
        lock (_gate)
        {
            if (_window == window)
                return;
            _window = window;
            if (_connection is { HasWindow: true } && _stream != 0 && !_isClosed)
                _connection.Outbox.Write(window, _stream);
        }
    }

    /// <summary>
    /// The application asks for more while it holds a message that the broker gave it alone: it gets others beside it.
    /// </summary>
    public void AskForMore()
    {
        lock (_gate)
        {
            if (_connection is { HasWindow: true } && _stream != 0 && !_isClosed)
                _connection.Outbox.Write(_window, _stream);
        }
    }

    /// <summary>
    /// Gives a run's memory back, and its bytes to the broker as new credit once they are half of what was granted.
    /// </summary>
    public void Release(in Delivery run)
    {
        lock (_gate)
        {
            _consumer.Memory.Release(run);
            _heldBytes -= run.CreditBytes;
            _releasedBytes += run.CreditBytes;
            if (_releasedBytes < _creditBytes / 2 || _connection is null || _stream == 0 || _isClosed)
                return;
            _connection.Outbox.Write(new CreditFrame((uint)_releasedBytes), _stream);
            _releasedBytes = 0;
        }
    }

    /// <summary>
    /// What comes from now on begins and ends like this. Also anew: what the log held may be gone after an unclean
    /// stop, and its old end would never be reached. Called by the reader.
    /// </summary>
    public void Begin(SubscriptionStarted started) =>
        (ExpectedOffset, _caughtUpAt) = (started.NextOffset, started.EndOffset);

    /// <summary>Reports a gap to the application, and ends the enumeration if the options say so.</summary>
    public void Report(MessageGap gap)
    {
        ExpectedOffset =
            gap.Reason == GapReason.Truncated ? gap.FirstOffset : Math.Max(ExpectedOffset, gap.LastOffset + 1);
        // Behind this gap its offsets come again, as other messages.
        if (gap.Reason == GapReason.Truncated)
            Volatile.Write(ref _firstWantedOffset, Math.Min(_firstWantedOffset, gap.FirstOffset));
        _consumer.Report(gap);
        // What has expired was to be lost then: no reason to end.
        if (gap.Reason == GapReason.Expired || Options.GapAction == GapAction.Continue)
            return;
        ErrorCode code = gap.Reason switch
        {
            GapReason.Dropped => ErrorCode.SlowConsumer,
            GapReason.Retention => ErrorCode.OffsetOutOfRange,
            GapReason.Truncated => ErrorCode.StaleEpoch,
            _ => ErrorCode.CorruptData,
        };
        var place = new TopicAddress(gap.Topic, PartitionCount > 1 ? gap.Partition : null);
        throw new LightQException(
            code,
            $"Messages {gap.FirstOffset} to {gap.LastOffset} of {place} will not come: {gap.Reason}."
        );
    }

    /// <summary>Ends the subscription; its consumer lets go of what is queued.</summary>
    public void Close()
    {
        _links.Detach(this);
        lock (_gate)
        {
            if (_isClosed)
                return;
            _isClosed = true;
            if (_connection is not null && _stream != 0)
            {
                _connection.Outbox.Write(new CloseFrame(ErrorCode.None, ""), _stream);
                _connection.Unregister(_stream);
            }
            _settlements?.End(new LightQException(ErrorCode.Closed, "The consumer has left."));
            ForgetBatch();
        }
    }

    private SubscriptionStarted? OnSubscribed(in SubscribedFrame subscribed)
    {
        bool isResumed = _wasOpened;
        if (isResumed && subscribed.PartitionCount != PartitionCount && Options.Partition is null)
        {
            // Some of its partitions would never be read.
            _consumer.End(
                new LightQException(
                    ErrorCode.TopicDeleted,
                    $"{Topic} was deleted and made again with {subscribed.PartitionCount} partitions, not "
                        + $"{PartitionCount}: consume it anew."
                )
            );
            return null;
        }
        PartitionCount = (int)subscribed.PartitionCount;
        _isSubscribed = true;
        long next = subscribed.NextOffset;
        if (!isResumed && next > subscribed.EndOffset && Options.IsAfter(Partition))
        {
            // The log that the position is of was longer: the topic was made anew, or restored. What comes now is new.
            next = subscribed.EndOffset;
            _consumer.Enqueue(
                new Delivery(
                    this,
                    new MessageGap(Topic, next, subscribed.NextOffset - 1, GapReason.Truncated, Partition)
                )
            );
        }
        if (_settlements is { } settlements)
            settlements.Terms = subscribed.Terms;
        (_logIncarnation, _logEpoch) = (subscribed.Incarnation, subscribed.Epoch);
        // If part of what was seen is gone, a gap will say so. Until it is here, what was seen is what another
        // connection has to be told.
        if (!isResumed || _lastOffset < 0 || (subscribed.Incarnation == _incarnation && next > _lastOffset))
        {
            (_incarnation, _lastEpoch) = (_logIncarnation, _logEpoch);
        }
        // The batch that holds the first offset comes whole. A group may still be handed back what is older than its
        // position, and a subscription that resumes goes on between two batches, with earlier ones perhaps still queued
        // here.
        if (Options.Group is null && !isResumed)
            Volatile.Write(ref _firstWantedOffset, next);
        // An offset that the log no longer holds gives a gap, which may not get here on this connection.
        if (_lastOffset < 0)
        {
            _lastOffset = (Start.Kind == StartKind.Offset ? Math.Min(Start.Value, next) : next) - 1;
        }

        (_wasOpened, Refusal) = (true, null);
        Hints.OnOpened(subscribed.Epoch);
        _firstAnswer.TrySetResult(null);
        return new SubscriptionStarted(
            Topic,
            next,
            subscribed.StartOffset,
            subscribed.EndOffset,
            isResumed,
            Partition,
            PartitionCount
        );
    }

    /// <summary>Lets go of the batch that a later delivery may leave out.</summary>
    private void ForgetBatch()
    {
        _batch.Block?.Release();
        _batch = default;
    }

    private void OnSettled(Settlements settlements, uint tag, SettledFrame frame)
    {
        SettledRange refused = settlements.OnSettled(tag, frame);
        if (refused.Count != 0)
            ClientLog.NotSettled(_links.Logger, Settlements.Describe(refused), Topic);
    }

    private void OnUnsubscribed()
    {
        if (_isSubscribed)
            (_isSubscribed, _unsubscribedAt) = (false, _links.Options.ConnectionTime.GetTimestamp());
    }

    private void OnGap(in GapFrame gap)
    {
        if (gap.Reason == GapReason.Truncated)
            (_lastOffset, _incarnation, _lastEpoch) = (gap.FirstOffset - 1, _logIncarnation, _logEpoch);
        else
            _lastOffset = Math.Max(_lastOffset, gap.LastOffset);
    }

    private void Tell(SubscriptionStarted started)
    {
        try
        {
            Options.OnSubscribed?.Invoke(started);
        }
        catch (Exception e)
        {
            // Surfaces where the consumer awaits; thrown here it would end the process.
            End(
                new LightQException(ErrorCode.Internal, $"{nameof(ConsumeOptions.OnSubscribed)} threw: {e.Message}", e)
            );
        }
    }

    /// <param name="closed">Why it is closed.</param>
    /// <param name="isKnown">Whether the cluster's metadata has named the leader.</param>
    /// <returns>
    /// Why it ended, if it was too slow, or why its partition is not served; of any other end the reader hears.
    /// </returns>
    private LightQException? OnStreamClosed(in ClosedFrame closed, bool isKnown = false)
    {
        var reason = new LightQException(
            closed.Code == ErrorCode.None ? ErrorCode.Closed : closed.Code,
            closed.Message
        );
        _connection!.Unregister(_stream);
        _stream = 0;
        OnUnsubscribed();
        _settlements?.End(reason);
        if (_consumer.Outlives(reason))
        {
            // Every connection asks for it again.
            Refusal = reason;
            _firstAnswer.TrySetResult(reason);
            _consumer.EndIfAllAreRefused();
            return reason;
        }
        if ((reason.IsTransient && _wasOpened) || IsOpenedElsewhere(reason, _wasOpened, _links.Options))
        {
            if (reason.Code == ErrorCode.NotLeader)
                ClientLog.Moves(_links.Logger, WantedPartition, Topic, closed.Address, reason.Message);
            _links.ReopenLater(this, _connection, closed, isKnown);
            return null;
        }
        if (_firstAnswer.TrySetException(reason))
            return null; // Whoever opens it hears of it.
        _consumer.End(reason);
        if (reason.Code == ErrorCode.SlowConsumer)
            return reason;
        ClientLog.SubscriptionEnded(_links.Logger, Topic, reason.Code, reason.Message);
        return null;
    }

    private void End(LightQException reason)
    {
        lock (_gate)
        {
            _consumer.End(reason);
        }
        _firstAnswer.TrySetException(reason);
        Wake();
    }
}
