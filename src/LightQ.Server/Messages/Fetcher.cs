using System.Collections.Concurrent;
using System.Text;
using System.Threading.Channels;
using LightQ.Broker;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Server.Security;
using Subscription = LightQ.Broker.Subscriptions.Subscription;

namespace LightQ.Server.Messages;

/// <summary>
/// The member of a group that one user's Fetch calls are together: it holds what they were given until that is settled,
/// and asks for nothing while no call does.
/// </summary>
/// <remarks>
/// One call at a time has the turn, and waits for messages with it; the others wait in line. So what is taken is in
/// that call's answer as a whole, and there is credit only while a call waits.
/// </remarks>
internal sealed class Fetcher(
    LightQBroker broker,
    MessageCalls calls,
    FetchKey key,
    TimeProvider time,
    uint connectionId,
    string clientName,
    string peer
) : MessageClient(connectionId, clientName, peer, calls.Time.GetUtcNow()), IStreamOwner
{
    /// <summary>What a subscription may be given by the engine at a time: more than any run has.</summary>
    private const uint EngineCredit = 1024 * 1024;

    /// <summary>An answer takes no more messages when it has so many bytes.</summary>
    private const int AnswerBytes = 1024 * 1024;

    private readonly Channel<bool> _turn = Channel.CreateBounded<bool>(1); // A semaphore, but for its disposal.
    private readonly ConcurrentQueue<OutputStream> _scheduled = new();
    private readonly List<Subscription> _subscriptions = [];
    private readonly Queue<Subscription> _ready = new();
    private readonly Signal _wake = new();
    private readonly RunReader _run = new(time);
    private volatile CallAccess? _access;
    private volatile BrokerException? _refusal;
    private volatile bool _isOpen;

    /// <summary>Whose calls it is.</summary>
    public FetchKey Key => key;

    /// <inheritdoc/>
    public uint User => Principal.NumberOf(key.Kind, key.UserId);

    /// <summary>Names it in tokens: it cannot be guessed.</summary>
    public Guid Id { get; } = Guid.NewGuid();

    /// <summary>Calls that wait or are being answered. Guarded by the table of fetchers.</summary>
    public int Callers { get; set; }

    /// <summary>Ends it when it is not used. Guarded by the table of fetchers.</summary>
    public ITimer? Idle { get; set; }

    /// <summary>In whose share of the members it counts.</summary>
    public required object Source { get; init; }

    /// <summary>Called once, when it is to end.</summary>
    public required Action<Fetcher> Ending { get; init; }

    /// <summary>Messages that are delivered and not settled.</summary>
    public long Held
    {
        get
        {
            lock (_subscriptions)
                return _subscriptions.Sum(s => (long)s.Held);
        }
    }

    public override int Producers => 0;

    public override int Subscriptions => _subscriptions.Count;

    /// <summary>Nobody may be there.</summary>
    public override bool CanBeTold => false;

    public override (int BusyProducers, long Held) CountUnderWay() => (0, Held);

    public void Schedule(OutputStream stream)
    {
        _scheduled.Enqueue(stream);
        _wake.Set();
    }

    /// <summary>While no call waits, no other code sees it.</summary>
    public void OnEnding(OutputStream stream)
    {
        if (_isOpen && EndOf() is { } end)
            _ = Task.Run(() => EndAsync(end, isOrderly: false));
    }

    public override void BeginStop(TimeSpan timeLeft)
    {
        _refusal ??= Stopping();
        _wake.Set();
    }

    public override void EndStop() => _ = Task.Run(() => EndAsync(Stopping(), isOrderly: true));

    public override void Review()
    {
        if (_access is not { } access)
            return;
        lock (_subscriptions)
        {
            foreach (Subscription subscription in _subscriptions)
                access.Review(key.Topic, subscription);
        }
    }

    /// <summary>Takes messages, and waits for the first.</summary>
    /// <param name="access">The caller; its rights apply from now on.</param>
    /// <param name="most">How many messages at most.</param>
    /// <param name="waiting">Until when to wait.</param>
    /// <param name="cancelled">Whether the caller has cancelled the request.</param>
    /// <exception cref="BrokerException">The member cannot be, or is no more.</exception>
    public async Task<FetchResponse> FetchAsync(
        CallAccess access,
        int most,
        CancellationToken waiting,
        CancellationToken cancelled
    )
    {
        var answer = new FetchResponse();
        if (!await TryTurnAsync(waiting, cancelled).ConfigureAwait(false))
            return answer;
        try
        {
            _access = access;
            if (!_isOpen && _refusal is null)
                await OpenAsync().ConfigureAwait(false);
            // Many programs may be this member: what one works on takes none of what another has along.
            if (Held != 0)
                _subscriptions[0].TryResize(new WindowFrame(0, SubscribeFrame.AllAtATime));
            while (true)
            {
                if (_refusal is { } refusal)
                    throw new BrokerException(refusal.Code, refusal.Message);
                Collect(answer, most);
                bool isReading = _subscriptions.Exists(s => s.IsReading);
                bool isOver = cancelled.IsCancellationRequested || (waiting.IsCancellationRequested && !isReading);
                if (isOver || answer.Messages.Count + answer.Gaps.Count != 0)
                    return answer;
                await WaitAsync(isReading ? cancelled : waiting).ConfigureAwait(false);
            }
        }
        finally
        {
            foreach (Subscription subscription in _subscriptions)
            {
                subscription.Revoke();
                subscription.ForgetLastBatch();
            }
            _run.Unload();
            if (cancelled.IsCancellationRequested)
                HandBack(answer);
            _turn.Reader.TryRead(out _);
        }
    }

    /// <summary>Takes what the user says of a message.</summary>
    public Client.SettleOutcome Settle(in SettleToken token, in SettleRange range, string reason)
    {
        uint partition = token.Partition;
        Subscription? subscription = _subscriptions.Find(s => s.Partition.Index == partition);
        return subscription?.Settle(range, Encoding.UTF8.GetBytes(reason)) ?? Client.SettleOutcome.Unknown;
    }

    /// <summary>Leaves the group. The messages that it holds are redelivered to others.</summary>
    /// <param name="why">The error for calls that wait.</param>
    /// <param name="isOrderly">Whether what it hands back does not count as delivered.</param>
    public async Task EndAsync(BrokerException why, bool isOrderly)
    {
        Ending(this);
        _refusal ??= why;
        _wake.Set();
        await _turn.Writer.WriteAsync(true, CancellationToken.None).ConfigureAwait(false);
        Leave(isOrderly);
        _turn.Reader.TryRead(out _);
        calls.Remove(this);
    }

    private static BrokerException Stopping() => new(ErrorCode.ShuttingDown, "The broker is stopping.");

    private void Leave(bool isOrderly)
    {
        foreach (Subscription subscription in _subscriptions)
        {
            if (isOrderly)
                subscription.RequestClose(StreamClose.Ordinary);
            subscription.Release();
        }
    }

    /// <returns>False when the time is over.</returns>
    /// <exception cref="OperationCanceledException">Nobody wants the answer any more.</exception>
    private async Task<bool> TryTurnAsync(CancellationToken waiting, CancellationToken cancelled)
    {
        try
        {
            if (!_turn.Writer.TryWrite(true))
                await _turn.Writer.WriteAsync(true, waiting).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            cancelled.ThrowIfCancellationRequested();
            return false;
        }
    }

    private async Task WaitAsync(CancellationToken until)
    {
        try
        {
            await _wake.WaitAsync(until).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (until.IsCancellationRequested)
        {
            // One look more.
        }
    }

    private async Task OpenAsync()
    {
        try
        {
            var request = new Subscribe
            {
                Topic = key.Topic,
                Group = key.Group,
                SettleMode = GroupSettleMode.Explicit,
                LockDuration = key.LockDuration,
            };
            if (key.Partition is { } partition)
                request.Partition = partition;
            foreach (SubscribeFrame frame in SubscribeMapping.ToFrames(request, broker.GetTopic(key.Topic)))
            {
                uint id = frame.Partition + 1;
                Subscription subscription = broker.IsQuick(frame)
                    ? broker.Subscribe(this, id, frame, out _)
                    : await Task.Run(() => broker.Subscribe(this, id, frame, out _)).ConfigureAwait(false);
                lock (_subscriptions)
                    _subscriptions.Add(subscription);
            }
        }
        catch (Exception e)
        {
            // For who waits in line.
            _refusal ??=
                e as BrokerException ?? new BrokerException(ErrorCode.Unavailable, "The group could not be joined.");
            Leave(isOrderly: true);
            Ending(this);
            calls.Remove(this);
            throw;
        }
        foreach (Subscription subscription in _subscriptions)
            subscription.Opened();
        _isOpen = true;
        Review(); // What changed meanwhile has not met them.
        if (EndOf() is { } end)
            OnEnding(_subscriptions[0]);
    }

    /// <summary>Takes what is there.</summary>
    private void Collect(FetchResponse answer, int most)
    {
        foreach (Subscription subscription in _subscriptions)
        {
            if (subscription.Credit <= 0)
                subscription.Grant((uint)Math.Min(uint.MaxValue, EngineCredit - subscription.Credit));
        }
        while (_scheduled.TryDequeue(out OutputStream? stream))
        {
            stream.BeginTurn();
            if (!_ready.Contains((Subscription)stream))
                _ready.Enqueue((Subscription)stream);
        }
        if (EndOf() is { } end)
            throw end;
        int bytes = 0;
        while (answer.Messages.Count < most && bytes < AnswerBytes && _ready.TryDequeue(out Subscription? subscription))
        {
            subscription.MostMessages = most - answer.Messages.Count;
            switch (subscription.TryTake(out Broker.Subscriptions.Delivery delivery))
            {
                case DeliveryResult.Gap:
                    answer.Gaps.Add(DeliveryMapping.ToProto(subscription.Partition.Index, delivery.Gap).Gap);
                    break;
                case DeliveryResult.Run:
                    _run.Load(subscription, delivery);
                    subscription.Sent(delivery.Run);
                    bytes += Read(answer, subscription, delivery.Range, AnswerBytes - bytes);
                    break;
                default:
                    continue;
            }
            _ready.Enqueue(subscription); // The partitions take turns.
        }
    }

    /// <summary>Reads what was taken, and hands back what would make the answer too long.</summary>
    /// <returns>How many bytes it is.</returns>
    private int Read(FetchResponse answer, Subscription subscription, in GroupDelivery range, int mostBytes)
    {
        int bytes = 0;
        long next = range.FirstOffset,
            end = range.FirstOffset + range.Count;
        while (bytes < mostBytes && DeliveryMapping.Next(_run, long.MaxValue) is { } part)
        {
            if (part.Gap is { } gap)
            {
                answer.Gaps.Add(gap);
                next = gap.LastOffset + 1;
                continue;
            }
            foreach (DeliveredMessage message in part.Delivery.Messages)
            {
                var token = new SettleToken(Id, message.Partition, message.DeliveryId, message.Offset);
                message.SettleToken = token.ToString();
                bytes += message.CalculateSize();
                next = message.Offset + 1;
            }
            _run.Begin(part.Delivery.Messages);
            answer.Messages.AddRange(part.Delivery.Messages);
        }
        if (bytes >= mostBytes && next < end)
        {
            subscription.HandBack(Unsettled(range.DeliveryId, next, (uint)(end - next)));
            subscription.ForgetLastBatch();
        }
        return bytes;
    }

    private void HandBack(FetchResponse answer)
    {
        foreach (DeliveredMessage message in answer.Messages)
        {
            _subscriptions
                .Find(s => s.Partition.Index == message.Partition)!
                .HandBack(Unsettled(message.DeliveryId, message.Offset, 1));
        }
    }

    private static SettleRange Unsettled(uint delivery, long first, uint count) =>
        new(Client.SettleKind.Abandon, delivery, first, count);

    /// <summary>Why it has ended for good. Of several partitions one may fail, and the others go on.</summary>
    private BrokerException? EndOf()
    {
        lock (_subscriptions)
        {
            Subscription? ended = _subscriptions.TrueForAll(s => s.CloseRequested is not null)
                ? _subscriptions[0]
                : _subscriptions.Find(s => s.CloseRequested is { Code: not (ErrorCode.None or ErrorCode.TopicFailed) });
            return ended?.CloseRequested is { } close
                ? new BrokerException(close.Code, $"The subscription to '{key.Topic}' has ended: {close.Message}.")
                : null;
        }
    }
}
