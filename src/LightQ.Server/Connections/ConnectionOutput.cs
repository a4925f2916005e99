using System.Buffers;
using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Scheduling;
using LightQ.Server.Limits;
using LightQ.Server.Transport;

namespace LightQ.Server.Connections;

/// <summary>
/// Everything a connection sends, as an actor: idle, running, or running with more to look at. One send at a time; a
/// loop, never a recursion; a stream that has something to send only schedules it. The format decides how it is
/// written.
/// </summary>
/// <remarks>
/// A turn gathers answers, acks, credits and small runs into one buffer and sends them, with at most one larger run
/// behind, in one system call. After <see cref="TurnBytes"/> or <see cref="TurnSends"/> the rest is posted to the pool,
/// so that a fan-out does not hold a socket thread. A send that waits for its peer keeps no block for a little: that
/// moves to memory of its size.
/// </remarks>
internal sealed class ConnectionOutput : WorkItem, ISendEvents, IStreamOwner
{
    private const int Idle = 0,
        Running = 1,
        Again = 2;
    private const int TurnBytes = 1024 * 1024,
        TurnSends = 64;

    /// <summary>
    /// A run that is copied to go with the rest of a turn; a larger one goes behind it, from where it is.
    /// </summary>
    public const int SmallRun = 16 * 1024;

    /// <summary>What a format may write of one stream, in bytes, besides a small run.</summary>
    public const int WriteRoom = 4096;

    /// <summary>What a connection may leave unread before that counts with what others leave.</summary>
    private const int FreeAnswers = 4 * 1024;

    private readonly System.Net.IPAddress? _remote;
    private readonly FrameSender _sender;
    private readonly TimeProvider _time;
    private readonly ServerLimits _limits;
    private readonly BlockPool _blocks;
    private readonly IConnectionEvents _events;
    private readonly IOutputFormat _format;
    private readonly Lock _answersLock = new();

    // Made when first needed: most that a broker on a network accepts may be strangers.
    private Queue<OutputStream>? _turn;
    private AnswerBuffer? _answers;
    private AnswerBuffer? _answersSent;
    private BodyAccount? _account;
    private OutputStream? _scheduled;
    private int _state;
    private byte[]? _buffer;
    private byte[]? _waiting;
    private int _waitingBytes;
    private int _filled;
    private Subscription? _sending;
    private LentRun _sendingRun;
    private bool _endAfterAnswers;
    private bool _sendingEnded;
    private volatile bool _inputEnded;
    private bool _isSending;
    private bool _failed;
    private bool _finished;

    /// <param name="connection">The connection.</param>
    /// <param name="format">How streams' output is written.</param>
    /// <param name="limits">How many answers may wait.</param>
    /// <param name="time">The clock.</param>
    public ConnectionOutput(in ConnectionParts connection, IOutputFormat format, ServerLimits limits, TimeProvider time)
    {
        ConnectionId = connection.Id;
        _remote = connection.Peer.Remote?.Address;
        _events = connection.Events;
        _sender = connection.Sender;
        _blocks = connection.Blocks.Send;
        _format = format;
        _limits = limits;
        _time = time;
        LastSend = time.GetTimestamp();
        _sender.Events = this;
    }

    /// <inheritdoc/>
    public uint ConnectionId { get; }

    /// <summary>The number of the client's user; nobody's until the client is welcomed.</summary>
    public uint User { get; set; }

    /// <summary>Who has logged in and counts beside the address; null for nobody.</summary>
    public string? Source { get; set; }

    /// <inheritdoc/>
    public bool HasEnded => _inputEnded || Volatile.Read(ref _failed) || _events.IsPeerGone;

    /// <summary>When a send last began, as a timestamp of the clock.</summary>
    public long LastSend { get; private set; }

    /// <summary>Whether a send is under way.</summary>
    public bool IsSending => Volatile.Read(ref _isSending);

    /// <summary>The rest of the buffer of the current turn. Only for the format.</summary>
    public Span<byte> Free => _buffer.AsSpan(_filled);

    /// <inheritdoc/>
    public void Schedule(OutputStream stream)
    {
        OutputStream? head;
        do
        {
            head = Volatile.Read(ref _scheduled);
            stream.NextScheduled = head;
        } while (Interlocked.CompareExchange(ref _scheduled, stream, head) != head);
        Kick();
    }

    /// <inheritdoc/>
    public void OnEnding(OutputStream stream) => _events.OnEndPending();

    /// <summary>Queues an answer.</summary>
    /// <param name="answer">The answer.</param>
    /// <param name="last">Whether nothing is sent behind it, and it is taken however much is unread.</param>
    /// <returns>False when the peer has left so much unread that the connection must be cut.</returns>
    public bool Answer<TAnswer>(scoped in TAnswer answer, bool last = false)
        where TAnswer : IAnswer, allows ref struct
    {
        lock (_answersLock)
        {
            if (_endAfterAnswers)
                return true;
            _answers ??= new AnswerBuffer();
            if (!last && (_answers.WrittenCount > _limits.DataPlane.MaxUnreadAnswerBytes || !CountUnread()))
                return false;
            answer.WriteTo(_answers);
            _endAfterAnswers = last;
        }
        Kick();
        return true;
    }

    /// <summary>So many bytes of <see cref="Free"/> are written.</summary>
    public void Advance(int bytes) => _filled += bytes;

    /// <summary>The tail of the turn is this run: the subscription is called when it is in the socket.</summary>
    public void SendBehind(Subscription subscription, in LentRun run) => (_sending, _sendingRun) = (subscription, run);

    /// <summary>The stream has more to send: it gets another turn.</summary>
    public void TakeTurn(OutputStream stream)
    {
        _turn ??= new Queue<OutputStream>();
        _turn.Enqueue(stream);
    }

    /// <summary>The end of a stream is written: releases it.</summary>
    public void End(OutputStream stream)
    {
        _events.OnStreamEnded(stream);
        stream.Release();
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
        // The last line of defence of one connection: it runs on whatever thread woke it, which must not pay for its
        // defects.
#pragma warning disable CA1031
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

    /// <summary>
    /// Counts answers and a send that wait to be read, if they are more than a little. Under the lock of the answers.
    /// </summary>
    private bool CountUnread()
    {
        int bytes = (_answers?.WrittenCount ?? 0) + (_answersSent?.WrittenCount ?? 0) + _waitingBytes;
        if (bytes <= FreeAnswers && _account is null)
            return true;
        _account ??= new BodyAccount(_limits, _remote, FreeAnswers) { User = Source };
        return _account.TrySet(bytes, out _);
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

    bool ISendEvents.OnWaiting(ref ReadOnlyMemory<byte> head, int held)
    {
        if (_buffer is not null)
        {
            byte[] waiting = ArrayPool<byte>.Shared.Rent(head.Length);
            head.CopyTo(waiting);
            head = waiting.AsMemory(0, head.Length);
            _blocks.Return(_buffer);
            (_buffer, _waiting) = (null, waiting);
        }
        lock (_answersLock)
        {
            _waitingBytes = held + ((_buffer ?? _waiting)?.Length ?? 0);
            if (CountUnread())
                return true;
        }
        _limits.DataPlaneRefusals.Refuse(
            nameof(DataPlaneOptions.MaxAssemblyBytes),
            _limits.DataPlane.MaxAssemblyBytes,
            $"Connection {ConnectionId} from {_remote} does not read, and has no room to wait for that"
        );
        return false;
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
        Volatile.Write(ref _failed, true);
        _sender.Abort(); // Ends the reading too.
    }

    private void Sent()
    {
        Volatile.Write(ref _isSending, false);
        _filled = 0;
        _answersSent?.Clear();
        if (_waitingBytes != 0 || _account is not null)
            CountSent();
        if (_sending is null)
            return;
        Subscription subscription = _sending;
        _sending = null;
        subscription.Sent(_sendingRun);
    }

    /// <summary>What is unread from now on is less.</summary>
    private void CountSent()
    {
        byte[]? waiting = _waiting;
        _waiting = null;
        lock (_answersLock)
        {
            _waitingBytes = 0;
            CountUnread();
        }
        if (waiting is not null)
            ArrayPool<byte>.Shared.Return(waiting);
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
            _waiting = null;
            lock (_answersLock)
            {
                _endAfterAnswers = true; // Or what comes late would be counted, and never be given back.
                _account?.Clear();
            }
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
            bool full = _format.Write(stream, this, out tail);
            if (full || _buffer.Length - _filled < WriteRoom + SmallRun)
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
        OutputStream? newest = Interlocked.Exchange(ref _scheduled, null),
            oldest = null;
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
}
