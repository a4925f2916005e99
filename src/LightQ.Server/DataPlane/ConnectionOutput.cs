using LightQ.Broker.Logs;
using LightQ.Broker.Producers;
using LightQ.Broker.Scheduling;
using LightQ.Broker.Subscriptions;
using LightQ.Protocol.Frames;
using LightQ.Server.Limits;

namespace LightQ.Server.DataPlane;

/// <summary>
/// Everything a connection sends, as an actor: idle, running, or running with more to look at. One send at a time; a loop, never
/// a recursion; whoever has something to send only schedules it.
/// </summary>
/// <remarks>
/// A turn gathers answers, acks, credits and small runs into one buffer and sends them, with at most one larger run behind, in one
/// system call. After <see cref="TurnBytes"/> or <see cref="TurnSends"/> the rest is posted to the pool, so that a fan-out does not hold a socket thread.
/// </remarks>
internal sealed class ConnectionOutput : WorkItem, ISendEvents
{
    private const int Idle = 0, Running = 1, Again = 2;
    private const int TurnBytes = 1024 * 1024, TurnSends = 64;
    private const int SmallRun = 16 * 1024;
    private const int ControlRoom = 4096;
    private const int AckRanges = 64;

    private readonly FrameSender _sender;
    private readonly TimeProvider _time;
    private readonly ServerLimits _limits;
    private readonly BlockPool _blocks;
    private readonly IConnectionEvents _events;
    private readonly Lock _answersLock = new();

    // Made when first needed: most that a broker on a network accepts may be strangers.
    private Queue<OutputStream>? _turn;
    private AnswerBuffer? _answers;
    private AnswerBuffer? _answersSent;
    private OutputStream? _scheduled;
    private int _state;
    private byte[]? _buffer;
    private int _filled;
    private Subscription? _sending;
    private LentRun _sendingRun;
    private bool _endAfterAnswers;
    private bool _sendingEnded;
    private volatile bool _inputEnded;
    private bool _isSending;
    private bool _failed;
    private bool _finished;

    /// <param name="sender">Where the bytes go.</param>
    /// <param name="blocks">Buffers for turns.</param>
    /// <param name="events">Who is told what happens.</param>
    /// <param name="limits">How many answers may wait.</param>
    /// <param name="time">The clock.</param>
    public ConnectionOutput(FrameSender sender, BlockPool blocks, IConnectionEvents events, ServerLimits limits, TimeProvider time)
    {
        _events = events;
        _limits = limits;
        _time = time;
        LastSend = time.GetTimestamp();
        _sender = sender;
        _blocks = blocks;
        sender.Events = this;
    }

    /// <summary>When a send last began, as a timestamp of the clock.</summary>
    public long LastSend { get; private set; }

    /// <summary>Whether a send is under way.</summary>
    public bool IsSending => Volatile.Read(ref _isSending);

    /// <summary>Puts a stream into the queue and sees that a turn comes.</summary>
    public void Schedule(OutputStream stream)
    {
        OutputStream? head;
        do
        {
            head = Volatile.Read(ref _scheduled);
            stream.NextScheduled = head;
        }
        while (Interlocked.CompareExchange(ref _scheduled, stream, head) != head);
        Kick();
    }

    /// <summary>Queues an answer.</summary>
    /// <returns>False when the peer has left so much unread that the connection must be cut.</returns>
    public bool Answer<TBody>(scoped in TBody body, uint stream = 0, uint tag = 0, bool last = false)
        where TBody : IFrameBody<TBody>
    {
        lock (_answersLock)
        {
            if (_endAfterAnswers)
                return true;
            _answers ??= new AnswerBuffer();
            if (!last && _answers.WrittenCount > _limits.DataPlane.MaxUnreadAnswerBytes)
                return false;
            FrameCodec.Write(_answers, body, stream, tag);
            _endAfterAnswers = last;
        }
        Kick();
        return true;
    }

    /// <summary>Queues the answer to a Settle; it may be a long one.</summary>
    /// <returns>As <see cref="Answer"/>.</returns>
    public bool AnswerSettled(uint stream, uint tag, ReadOnlySpan<SettledRange> ranges)
    {
        lock (_answersLock)
        {
            if (_endAfterAnswers)
                return true;
            _answers ??= new AnswerBuffer();
            if (_answers.WrittenCount > _limits.DataPlane.MaxUnreadAnswerBytes)
                return false;
            int size = SettledFrame.SizeOf(ranges.Length);
            SettledFrame.Write(_answers.GetSpan(size), stream, tag, ranges);
            _answers.Advance(size);
        }
        Kick();
        return true;
    }

    /// <summary>Says that nothing more will be read: finishes the send under way, then ends.</summary>
    public void InputEnded()
    {
        _inputEnded = true;
        Kick();
    }

    /// <inheritdoc/>
    public override void Run()
    {
        try
        {
            RunTurn();
        }
#pragma warning disable CA1031 // The last line of defence of one connection: it runs on whatever thread woke it, which must not pay for its defects.
        catch (Exception e)
#pragma warning restore CA1031
        {
            _events.OnCrashed(e);
            Fail();
            Volatile.Write(ref _state, Running);
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false); // To the end, once the reading has ended too.
        }
    }

    private void RunTurn()
    {
        int sends = 0;
        long bytes = 0;
        while (true)
        {
            if (!Fill(out ReadOnlyMemory<byte> tail))
            {
                if (TryRest())
                    return;
                continue;
            }
            bytes += _filled + tail.Length;
            LastSend = _time.GetTimestamp();
            Volatile.Write(ref _isSending, true);
            switch (_sender.TrySend(_buffer.AsMemory(0, _filled), tail))
            {
                case SendResult.Pending:
                    return;
                case SendResult.Failed:
                    Fail();
                    break;
                default:
                    Sent();
                    break;
            }
            if (++sends >= TurnSends || bytes >= TurnBytes)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }
        }
    }

    private void Kick()
    {
        while (true)
        {
            int state = Volatile.Read(ref _state);
            if (state == Again)
                return;
            if (Interlocked.CompareExchange(ref _state, state == Idle ? Running : Again, state) != state)
                continue;
            if (state == Idle)
                TurnScope.Post(this);
            return;
        }
    }

    void ISendEvents.OnSendCompleted(bool sent)
    {
        using (TurnScope.Enter())
        {
            if (sent)
                Sent();
            else
                Fail();
            Run();
        }
    }

    private void Fail()
    {
        _failed = true;
        _sender.Abort(); // Ends the reading too.
    }

    private void Sent()
    {
        Volatile.Write(ref _isSending, false);
        _filled = 0;
        _answersSent?.Clear();
        if (_sending is null)
            return;
        Subscription subscription = _sending;
        _sending = null;
        subscription.Sent(_sendingRun);
    }

    /// <returns>Whether the actor is at rest; false when there is more to look at.</returns>
    private bool TryRest()
    {
        if (_buffer is not null)
        {
            _blocks.Return(_buffer);
            _buffer = null;
        }
        if (_inputEnded && !_finished)
        {
            _finished = true;
            _events.OnClosed();
            return true; // Stays Running: no turn comes after the end.
        }
        if (Interlocked.CompareExchange(ref _state, Idle, Running) == Running)
            return true;
        Volatile.Write(ref _state, Running);
        return false;
    }

    /// <summary>Gathers what is to be sent next.</summary>
    /// <param name="tail">A run to send behind the buffer.</param>
    /// <returns>Whether there is anything.</returns>
    private bool Fill(out ReadOnlyMemory<byte> tail)
    {
        tail = default;
        if (_failed || _sendingEnded || _inputEnded)
        {
            _filled = 0;
            _sending = null;
            return false;
        }
        if (TakeAnswers(out tail))
            return true;
        TakeScheduled();
        while (_turn is not null && _turn.TryDequeue(out OutputStream? stream))
        {
            if (stream.IsReleased)
                continue; // It was queued again before it ended.
            _buffer ??= _blocks.Rent();
            bool full = stream is Subscription subscription ? FillFrom(subscription, out tail) : FillFrom((ProducerStream)stream);
            if (full || _buffer.Length - _filled < ControlRoom + SmallRun)
                return true;
        }
        return _filled != 0;
    }

    private bool TakeAnswers(out ReadOnlyMemory<byte> tail)
    {
        tail = default;
        AnswerBuffer answers;
        lock (_answersLock)
        {
            if (_answers is null || _answers.WrittenCount == 0)
            {
                if (_endAfterAnswers)
                {
                    _sendingEnded = true;
                    _sender.EndSending();
                }
                return false;
            }
            answers = _answers;
            (_answers, _answersSent) = (_answersSent, answers);
        }
        _buffer ??= _blocks.Rent();
        if (answers.WrittenCount > SmallRun)
        {
            tail = answers.WrittenMemory;
            return true;
        }
        answers.WrittenMemory.Span.CopyTo(_buffer);
        _filled = answers.WrittenCount;
        return false;
    }

    /// <summary>Moves what was scheduled into this turn, oldest first.</summary>
    private void TakeScheduled()
    {
        OutputStream? newest = Interlocked.Exchange(ref _scheduled, null), oldest = null;
        while (newest is not null)
        {
            OutputStream? next = newest.NextScheduled;
            newest.NextScheduled = oldest;
            oldest = newest;
            newest = next;
        }
        while (oldest is not null)
        {
            OutputStream? next = oldest.NextScheduled;
            oldest.NextScheduled = null;
            oldest.BeginTurn();
            TakeTurn(oldest);
            oldest = next;
        }
    }

    private void TakeTurn(OutputStream stream)
    {
        _turn ??= new Queue<OutputStream>();
        _turn.Enqueue(stream);
    }

    private bool FillFrom(ProducerStream producer)
    {
        StreamClose? close = producer.CloseRequested;
        Span<AckRange> ranges = stackalloc AckRange[AckRanges];
        PublishOutput output = producer.TakeOutput(ranges);
        Span<byte> free = _buffer.AsSpan(_filled);
        if (output.Ranges != 0)
            _filled += PublishAckFrame.Write(free, producer.Id, output.Durability, ranges[..output.Ranges]);
        if (output.Credit != 0)
            _filled += FrameCodec.Write(_buffer.AsSpan(_filled), new CreditFrame(output.Credit), producer.Id);
        if (output.Echo != 0)
            _filled += FrameCodec.Write(_buffer.AsSpan(_filled), new PingFrame(Session.EchoOf(producer.Id, output.Echo)));
        if (output.Ranges == AckRanges)
            TakeTurn(producer);
        else if (close is not null)
            End(producer, close);
        return false;
    }

    private bool FillFrom(Subscription subscription, out ReadOnlyMemory<byte> tail)
    {
        tail = default;
        if (subscription.CloseRequested is { } close)
        {
            End(subscription, close);
            return false;
        }
        switch (subscription.TryTake(out Delivery delivery))
        {
            case DeliveryResult.Gap:
                _filled += FrameCodec.Write(_buffer.AsSpan(_filled), new GapFrame(delivery.Gap.FirstOffset, delivery.Gap.LastOffset, delivery.Gap.Reason), subscription.Id);
                TakeTurn(subscription);
                return false;
            case DeliveryResult.Run:
                ReadOnlyMemory<byte> run = delivery.Run.Memory;
                bool isRange = delivery.Range.Count != 0;
                WriteDeliverHead(subscription, delivery);
                TakeTurn(subscription);
                // A group that settles automatically does so when the run is in the socket, so its runs are not copied to be sent later.
                if (run.Length > SmallRun || (subscription.GroupName.Length != 0 && !isRange))
                {
                    _sending = subscription;
                    _sendingRun = delivery.Run;
                    tail = run;
                    return true;
                }
                run.Span.CopyTo(_buffer.AsSpan(_filled));
                _filled += run.Length;
                subscription.Sent(delivery.Run);
                return false;
            default:
                return false;
        }
    }

    private void WriteDeliverHead(Subscription subscription, in Delivery delivery)
    {
        Span<byte> free = _buffer.AsSpan(_filled);
        int length = delivery.Run.Memory.Length;
        if (delivery.Range.Count != 0)
        {
            _filled += GroupDeliverFrame.WriteHead(free, subscription.Id, delivery.Range, length);
            return;
        }
        new FrameHeader(FrameHeader.Size + length, FrameType.Deliver, 0, subscription.Id, 0).Write(free);
        _filled += FrameHeader.Size;
    }

    private void End(OutputStream stream, StreamClose close)
    {
        string message = close.Message.Length <= 1000 ? close.Message : close.Message[..1000];
        _filled += FrameCodec.Write(_buffer.AsSpan(_filled), new ClosedFrame(close.Code, message), stream.Id);
        _events.OnStreamEnded(stream);
        stream.Release();
    }
}
