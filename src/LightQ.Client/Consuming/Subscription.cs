using LightQ.Client.Connections;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>A subscription's engine: a queue of delivered runs between the receiving thread and one enumerator, bounded by credit.</summary>
/// <remarks>Thread-safe. The queue survives a reconnect: the subscription resumes behind the last batch that was queued.</remarks>
internal sealed class Subscription : ClientStream
{
    private long _firstWantedOffset;
    private readonly Lock _gate = new();
    private readonly BrokerLink _link;
    private readonly Queue<Delivery> _queue = new();
    private readonly TaskCompletionSource _firstSubscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Action<MessageGap> _onGap;
    private readonly DeliveryMemory _memory;
    private Connection? _connection;
    private DeliveryReader? _waiter;
    private LightQException? _end;
    private bool _isClosed;
    private uint _stream;
    private Settlements? _settlements;
    private long _heldBytes;
    private long _releasedBytes;
    private long _lastOffset = -1;
    private uint _lastEpoch;
    private ulong _incarnation;
    private uint _logEpoch;
    private ulong _logIncarnation;

    public Subscription(BrokerLink link, string topic, ConsumeOptions options, Action<MessageGap> onGap)
    {
        _link = link;
        Topic = topic;
        Options = options;
        _onGap = onGap;
        _memory = new DeliveryMemory(link.Blocks, options.CreditBytes);
    }

    public string Topic { get; }

    public override bool HasUnanswered
    {
        get
        {
            lock (_gate)
                return _settlements is { HasUnanswered: true };
        }
    }

    public ConsumeOptions Options { get; }

    /// <summary>The client's clock, in unix microseconds.</summary>
    public long Now => UnixMicroseconds.From(_link.Options.TimeProvider.GetUtcNow());

    /// <summary>Completes when the broker has opened the subscription for the first time.</summary>
    public Task FirstSubscribed => _firstSubscribed.Task;

    /// <summary>Messages before this offset are not wanted: a batch that begins before it comes whole.</summary>
    public long FirstWantedOffset => Volatile.Read(ref _firstWantedOffset);

    public override void Open(Connection connection)
    {
        lock (_gate)
        {
            if (_isClosed || _end is not null)
                return;
            _connection = connection;
            _stream = connection.Register(this);
            _settlements = Options.SettleMode == SettleMode.Explicit ? new Settlements(connection.Outbox, _stream, Topic) : null;
            bool isGroup = Options.Group is not null;
            bool resumes = !isGroup && _firstSubscribed.Task.IsCompletedSuccessfully;
            StartKind start = resumes ? StartKind.Offset : Options.Start.Kind ?? (isGroup ? StartKind.Committed : StartKind.Latest);
            if (isGroup && _firstSubscribed.Task.IsCompleted)
                start = StartKind.Committed;
            connection.Outbox.Write(
                new SubscribeFrame(
                    Topic,
                    Options.Partition is { } partition ? (uint)partition : OpenProducerFrame.AnyPartition,
                    Options.Group ?? "",
                    start,
                    resumes ? _lastOffset + 1 : Options.Start.Value,
                    resumes ? _lastOffset : -1,
                    _lastEpoch,
                    _incarnation,
                    Options.SettleMode,
                    Options.SlowPolicy,
                    0),
                _stream,
                _stream);
            long credit = Math.Max(1, Options.CreditBytes - _heldBytes);
            _releasedBytes = 0;
            connection.Outbox.Write(new CreditFrame((uint)credit), _stream);
        }
    }

    public override void OnFrame(Connection connection, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        SubscriptionStarted? started = null;
        lock (_gate)
        {
            if (header.Stream != _stream || connection != _connection)
                return;
            switch (header.Type)
            {
                case FrameType.Subscribed:
                    started = OnSubscribed(FrameCodec.Read<SubscribedFrame>(body));
                    break;
                case FrameType.Gap:
                    GapFrame gap = FrameCodec.Read<GapFrame>(body);
                    OnGap(gap);
                    _queue.Enqueue(new Delivery(new MessageGap(Topic, gap.FirstOffset, gap.LastOffset, gap.Reason)));
                    break;
                case FrameType.Settled when _settlements is not null:
                    OnSettled(_settlements, header.Tag, new SettledFrame(body));
                    break;
                case FrameType.Closed:
                    OnStreamClosed(FrameCodec.Read<ClosedFrame>(body));
                    break;
                default:
                    throw new ProtocolException(ErrorCode.UnexpectedFrame, $"A subscription does not get {header.Type}.");
            }
        }
        if (started is not null)
            Tell(started);
        else
            Wake();
    }

    public override bool OnRun(uint stream, ReceiveBlock block, int offset, int length, int lastBatch)
    {
        var last = new BatchView(block.Bytes.AsSpan(lastBatch, offset + length - lastBatch));
        bool isSound = last.VerifyHeader();
        lock (_gate)
        {
            if (stream != _stream || _isClosed)
                return false;
            _heldBytes += length;
            _queue.Enqueue(_memory.Take(block, offset, length) with { Settlements = _settlements });
            if (isSound)
                (_lastOffset, _lastEpoch) = (last.NextOffset - 1, last.LeaderEpoch);
            return _waiter is not null;
        }
    }

    public override void Wake()
    {
        DeliveryReader? waiter;
        lock (_gate)
        {
            if (_queue.Count == 0 && _end is null)
                return;
            (waiter, _waiter) = (_waiter, null);
        }
        waiter?.Resume(Options.Scheduling == ContinuationScheduling.Inline);
    }

    public override void OnDisconnected(LightQException reason)
    {
        lock (_gate)
        {
            _connection = null;
            _settlements?.End(reason);
        }
    }

    public override void OnClosed(LightQException reason)
    {
        OnDisconnected(reason);
        End(reason);
    }

    /// <summary>Takes the next delivery, or registers <paramref name="waiter"/> to be resumed when there is one.</summary>
    /// <returns>False when there is none.</returns>
    /// <exception cref="LightQException">The subscription has ended and everything before was taken.</exception>
    public bool TryTake(DeliveryReader? waiter, out Delivery delivery)
    {
        lock (_gate)
        {
            if (_queue.TryDequeue(out delivery))
                return true;
            if (_end is not null)
                throw _end.Copy();
            _waiter = waiter;
            return false;
        }
    }

    /// <summary>Stops waiting, if the reader still waits.</summary>
    /// <returns>Whether it did; then nobody else resumes it.</returns>
    public bool TryStopWaiting(DeliveryReader waiter)
    {
        lock (_gate)
        {
            if (_waiter != waiter)
                return false;
            _waiter = null;
            return true;
        }
    }

    /// <summary>Gives a run's memory back, and its bytes to the broker as new credit once they are half of what was granted.</summary>
    public void Release(in Delivery run)
    {
        lock (_gate)
        {
            _memory.Release(run);
            _heldBytes -= run.Length;
            _releasedBytes += run.Length;
            if (_releasedBytes < Options.CreditBytes / 2 || _connection is null || _isClosed)
                return;
            _connection.Outbox.Write(new CreditFrame((uint)_releasedBytes), _stream);
            _releasedBytes = 0;
        }
    }

    /// <summary>Tells whoever wants to know about a gap, and ends the enumeration if that is wanted.</summary>
    public void Report(MessageGap gap)
    {
        // Behind this gap its offsets come again, as other messages.
        if (gap.Reason == GapReason.Truncated)
            Volatile.Write(ref _firstWantedOffset, Math.Min(_firstWantedOffset, gap.FirstOffset));
        // What has expired was to be lost then: nothing to warn of, and no reason to end.
        bool isWanted = gap.Reason == GapReason.Expired;
        if (!isWanted)
            ClientLog.Gap(_link.Logger, gap.Topic, gap.FirstOffset, gap.LastOffset, gap.Reason);
        Options.OnGap?.Invoke(gap);
        _onGap(gap);
        if (isWanted || Options.GapAction == GapAction.Continue)
            return;
        ErrorCode code = gap.Reason switch
        {
            GapReason.Dropped or GapReason.Retention => ErrorCode.SlowConsumer,
            GapReason.Truncated => ErrorCode.StaleEpoch,
            _ => ErrorCode.CorruptData,
        };
        throw new LightQException(code, $"Messages {gap.FirstOffset} to {gap.LastOffset} of {gap.Topic} will not come: {gap.Reason}.");
    }

    /// <summary>Ends the subscription and lets go of everything that is queued.</summary>
    public void Close()
    {
        _link.Detach(this);
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
            while (_queue.TryDequeue(out Delivery delivery))
                _memory.Release(delivery);
            _memory.Close();
        }
    }

    private SubscriptionStarted OnSubscribed(in SubscribedFrame subscribed)
    {
        bool isResumed = _firstSubscribed.Task.IsCompleted;
        (_logIncarnation, _logEpoch) = (subscribed.Incarnation, subscribed.Epoch);
        // If part of what was seen is gone, a gap will say so. Until it is here, what was seen is what another connection has to be told.
        if (!isResumed || _lastOffset < 0 || (subscribed.Incarnation == _incarnation && subscribed.NextOffset > _lastOffset))
            (_incarnation, _lastEpoch) = (_logIncarnation, _logEpoch);
        // The batch that holds the first offset comes whole. A group may still be handed back what is older than its position, and
        // a subscription that resumes goes on between two batches, with earlier ones perhaps still queued here.
        if (Options.Group is null && !isResumed)
            Volatile.Write(ref _firstWantedOffset, subscribed.NextOffset);
        if (_lastOffset < 0)
            _lastOffset = subscribed.NextOffset - 1;
        _firstSubscribed.TrySetResult();
        return new SubscriptionStarted(Topic, subscribed.NextOffset, subscribed.StartOffset, subscribed.EndOffset, isResumed);
    }

    private void OnSettled(Settlements settlements, uint tag, SettledFrame frame)
    {
        SettledRange refused = settlements.OnSettled(tag, frame);
        if (refused.Count != 0)
            ClientLog.NotSettled(_link.Logger, Settlements.Describe(refused), Topic);
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
            End(new LightQException(ErrorCode.Internal, $"{nameof(ConsumeOptions.OnSubscribed)} threw: {e.Message}", e));
        }
    }

    private void OnStreamClosed(in ClosedFrame closed)
    {
        var reason = new LightQException(closed.Code == ErrorCode.None ? ErrorCode.Closed : closed.Code, closed.Message);
        _connection!.Unregister(_stream);
        _stream = 0;
        _settlements?.End(reason);
        if (reason.IsTransient && _firstSubscribed.Task.IsCompletedSuccessfully)
        {
            _link.ReopenLater(this, _connection);
            return;
        }
        ClientLog.SubscriptionEnded(_link.Logger, Topic, reason.Code, reason.Message);
        _end = reason;
        _firstSubscribed.TrySetException(reason);
    }

    private void End(LightQException reason)
    {
        lock (_gate)
        {
            _end ??= reason;
        }
        _firstSubscribed.TrySetException(reason);
        Wake();
    }
}
