using System.Collections.Concurrent;
using System.Runtime.ExceptionServices;
using System.Text;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Delivery = LightQ.Broker.Subscriptions.Delivery;
using Subscription = LightQ.Broker.Subscriptions.Subscription;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Messages;

/// <summary>
/// A Consume call: one loop takes credits and settlements, the other sends what they let come. To the engine it is a
/// connection with a subscription on each partition.
/// </summary>
/// <remarks>
/// The sending loop alone takes from subscriptions, one run at a time, and holds no more. A subscription has credit
/// with the engine while the client has some here, so that the group's reported state is true, and nothing wakes this
/// call for messages that it could not send.
/// </remarks>
/// <param name="broker">The engine.</param>
/// <param name="access">The caller.</param>
/// <param name="time">The clock of messages.</param>
/// <param name="connectionTime">The clock of connections.</param>
/// <param name="connectionId">Names it in statistics.</param>
/// <param name="context">The call.</param>
/// <param name="held">Counts what it holds of messages.</param>
/// <param name="opened">When it began.</param>
internal sealed class ConsumeCall(
    LightQBroker broker,
    CallAccess access,
    TimeProvider time,
    TimeProvider connectionTime,
    uint connectionId,
    ServerCallContext context,
    BodyAccount held,
    DateTimeOffset opened
) : MessageCall(connectionId, context, opened), IStreamOwner
{
    /// <summary>What a subscription may be given by the engine at a time: more than any run has.</summary>
    private const uint EngineCredit = 1024 * 1024;

    /// <summary>Outcomes that wait for a client that settles without reading.</summary>
    private const int MostWaitingOutcomes = 100_000;

    private static readonly TimeSpan StuckTimeout = TimeSpan.FromSeconds(2);

    private readonly ConcurrentQueue<OutputStream> _scheduled = new();
    private readonly ConcurrentQueue<Settled> _settled = new();
    private readonly List<Subscription> _subscriptions = [];
    private readonly Queue<Subscription> _ready = new();
    private readonly HashSet<Subscription> _isReady = [];
    private readonly Signal _wake = new();
    private readonly RunReader _run = new(time, held);
    private Delivered _unsent;
    private Exception? _failure;
    private long _ticksLeft = -1;
    private long _credit;
    private int _waitingOutcomes;
    private bool _isExplicit;
    private bool _isGranted;
    private bool _isToldToGo;
    private bool _isTimeOver;
    private volatile bool _isAsked;
    private volatile bool _requestsEnded;
    private volatile bool _isAbortDue;

    /// <inheritdoc/>
    public uint User => access.Principal.Number;

    /// <inheritdoc/>
    public bool HasEnded => Context.CancellationToken.IsCancellationRequested;

    public override int Producers => 0;

    public override int Subscriptions => _subscriptions.Count;

    public override (int BusyProducers, long Held) CountUnderWay()
    {
        lock (_subscriptions)
            return (0, _subscriptions.Sum(s => (long)s.Held));
    }

    public void Schedule(OutputStream stream)
    {
        _scheduled.Enqueue(stream);
        _wake.Set();
    }

    public void OnEnding(OutputStream stream)
    {
        if (_isAbortDue)
            return;
        _isAbortDue = true;
        _ = AbortIfStuckAsync();
    }

    public override void BeginStop(TimeSpan timeLeft)
    {
        Volatile.Write(ref _ticksLeft, timeLeft.Ticks);
        _wake.Set();
        if (!_isAsked)
            StopReading(); // It waits for the first request.
    }

    public override void EndStop()
    {
        Volatile.Write(ref _isTimeOver, true);
        _wake.Set();
    }

    public override void Review()
    {
        lock (_subscriptions)
        {
            foreach (Subscription subscription in _subscriptions)
                access.Review(subscription.Partition.Topic.Name, subscription);
        }
    }

    public async Task RunAsync(
        IAsyncStreamReader<ConsumeRequest> reader,
        IServerStreamWriter<ConsumeResponse> responses
    )
    {
        Subscribe subscribe =
            await NextAsync(reader).ConfigureAwait(false) && reader.Current.Subscribe is { } asked
                ? asked
                : throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    "The first request is not subscribe; it opens the subscription."
                );
        _isAsked = true;
        _isExplicit = subscribe.SettleMode == GroupSettleMode.Explicit;
        _credit = subscribe.Credit;
        Task reading = Task.CompletedTask;
        try
        {
            Subscribed subscribed = await OpenAsync(subscribe).ConfigureAwait(false);
            await responses.WriteAsync(new ConsumeResponse { Subscribed = subscribed }).ConfigureAwait(false);
            foreach (Subscription subscription in _subscriptions)
                subscription.Opened();
            reading = Task.Run(() => ReadAsync(reader), CancellationToken.None);
            await SendAsync(responses).ConfigureAwait(false);
        }
        finally
        {
            foreach (Subscription subscription in _subscriptions)
                subscription.Release();
            _run.Unload();
            StopReading();
            await reading.ConfigureAwait(false);
        }
    }

    private async Task<Subscribed> OpenAsync(Subscribe request)
    {
        Topic topic = await broker
            .Decisions.DecideAsync(
                () =>
                {
                    access.Demand(request.Topic);
                    return ValueTask.FromResult(broker.GetTopic(request.Topic));
                },
                Context.CancellationToken
            )
            .ConfigureAwait(false);
        var subscribed = new Subscribed { PartitionsCount = topic.Settings.Partitions, ConnectionId = ConnectionId };
        foreach (SubscribeFrame frame in SubscribeMapping.ToFrames(request, topic))
        {
            SubscribedFrame answer = default;
            uint id = frame.Partition + 1;
            Subscription subscription = broker.IsQuick(frame)
                ? broker.Subscribe(this, id, frame, out answer)
                : await Task.Run(() => broker.Subscribe(this, id, frame, out answer)).ConfigureAwait(false);
            lock (_subscriptions)
                _subscriptions.Add(subscription);
            subscribed.Partitions.Add(
                new PartitionSubscribed
                {
                    Partition = frame.Partition,
                    Epoch = answer.Epoch,
                    Incarnation = answer.Incarnation,
                    NextOffset = answer.NextOffset,
                    StartOffset = answer.StartOffset,
                    EndOffset = answer.EndOffset,
                }
            );
        }
        Review(); // What changed meanwhile has not met them.
        return subscribed;
    }

    /// <summary>Takes what the client says until it has no more to say.</summary>
    private async Task ReadAsync(IAsyncStreamReader<ConsumeRequest> reader)
    {
        try
        {
            while (await NextAsync(reader).ConfigureAwait(false))
                Take(reader.Current);
            _requestsEnded = true;
        }
#pragma warning disable CA1031 // The sending loop throws it.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Volatile.Write(ref _failure, e);
        }
        _wake.Set();
    }

    private void Take(ConsumeRequest request)
    {
        switch (request.RequestCase)
        {
            case ConsumeRequest.RequestOneofCase.Credit when request.Credit.Messages != 0:
                Interlocked.Add(ref _credit, request.Credit.Messages); // 2^31 of the largest would not overflow it.
                _wake.Set();
                break;
            case ConsumeRequest.RequestOneofCase.Credit:
                throw new BrokerException(ErrorCode.InvalidArgument, "credit.messages is 0; allowed: 1 or more.");
            case ConsumeRequest.RequestOneofCase.Settle:
                Settle(request.Settle);
                break;
            case ConsumeRequest.RequestOneofCase.Subscribe:
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    "A request behind the first is subscribe; one call has one subscription."
                );
            default:
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    "A request is empty; allowed behind the first: credit and settle."
                );
        }
    }

    private void Settle(Settle request)
    {
        SettlementMapping.CheckCount(request.Settlements.Count);
        var settled = new Settled { Tag = request.Tag };
        bool isAnswered = request.Tag != 0;
        for (int i = 0; i < request.Settlements.Count; i++)
        {
            Settlement settlement = request.Settlements[i];
            Subscription subscription =
                _subscriptions.Find(s => s.Partition.Index == settlement.Partition)
                ?? throw new BrokerException(
                    ErrorCode.UnknownPartition,
                    $"settlements[{i}] names partition {settlement.Partition}, which is not subscribed to."
                );
            Client.SettleOutcome outcome = subscription.Settle(
                SettlementMapping.ToRange(settlement, i),
                Encoding.UTF8.GetBytes(settlement.Reason)
            );
            settled.Outcomes.Add(SettlementMapping.ToProto(outcome));
            isAnswered |= outcome != Client.SettleOutcome.Done;
        }
        if (!isAnswered)
            return;
        if (Interlocked.Add(ref _waitingOutcomes, settled.Outcomes.Count) > MostWaitingOutcomes)
        {
            throw new BrokerException(
                ErrorCode.ResourceExhausted,
                "The client does not read the outcomes of its settlements."
            );
        }

        _settled.Enqueue(settled);
        _wake.Set();
    }

    private async Task SendAsync(IServerStreamWriter<ConsumeResponse> responses)
    {
        while (true)
        {
            if (Next() is { } response)
                await responses.WriteAsync(response).ConfigureAwait(false);
            else if (HasFinished())
                return;
            else
                await _wake.WaitAsync(Context.CancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>What is to be sent next: outcomes first, then word of the stop, then messages.</summary>
    private ConsumeResponse? Next()
    {
        if (_run.IsExhausted)
            FinishRun(); // What was taken last has been sent.
        if (_settled.TryDequeue(out Settled? settled))
        {
            Interlocked.Add(ref _waitingOutcomes, -settled.Outcomes.Count);
            return new ConsumeResponse { Settled = settled };
        }
        TakeScheduled();
        if (Volatile.Read(ref _failure) is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        long ticksLeft = Volatile.Read(ref _ticksLeft);
        if (ticksLeft < 0)
            return _requestsEnded && _isExplicit ? null : NextMessages();
        if (_isToldToGo)
            return null;
        _isToldToGo = true;
        return new ConsumeResponse { GoAway = new GoAway { TimeLeft = TimeSpan.FromTicks(ticksLeft).ToDuration() } };
    }

    private ConsumeResponse? NextMessages()
    {
        long credit = Volatile.Read(ref _credit);
        ShowCredit(credit > 0);
        while (true)
        {
            if (DeliveryMapping.Next(_run, credit) is { } response)
            {
                int count = response.Delivery?.Messages.Count ?? 0;
                if (count != 0)
                    _run.Begin(response.Delivery!.Messages);
                if (count != 0 && Interlocked.Add(ref _credit, -count) == 0)
                    ShowCredit(false);
                return response;
            }
            if (!_run.IsExhausted)
                return null; // It waits for credit.
            FinishRun();
            if (credit <= 0 || !_ready.TryDequeue(out Subscription? subscription))
                return null;
            _isReady.Remove(subscription);
            if (TakeFrom(subscription, credit) is { } gap)
                return gap;
        }
    }

    /// <summary>Takes a run to read, or a gap.</summary>
    private ConsumeResponse? TakeFrom(Subscription subscription, long credit)
    {
        if (subscription.Credit <= 0)
            subscription.Grant((uint)Math.Min(uint.MaxValue, EngineCredit - subscription.Credit));
        subscription.MostMessages = (int)Math.Min(credit, int.MaxValue);
        switch (subscription.TryTake(out Delivery delivery))
        {
            case DeliveryResult.Gap:
                MakeReady(subscription);
                return DeliveryMapping.ToProto(subscription.Partition.Index, delivery.Gap);
            case DeliveryResult.Run:
                MakeReady(subscription);
                _run.Load(subscription, delivery);
                // A group that settles automatically does so when the last of the run is sent; all others need the lent
                // memory no more.
                if (subscription.GroupName.Length != 0 && !_isExplicit)
                    _unsent = new Delivered(subscription, delivery);
                else
                    subscription.Sent(delivery.Run);
                return null;
            default:
                return null;
        }
    }

    private void FinishRun()
    {
        if (_unsent.Subscription is { } subscription)
            subscription.Sent(_unsent.Delivery.Run);
        _unsent = default;
        _run.Finish();
    }

    /// <summary>Lets the engine know whether there is credit.</summary>
    private void ShowCredit(bool isGranted)
    {
        if (isGranted == _isGranted)
            return;
        _isGranted = isGranted;
        foreach (Subscription subscription in _subscriptions)
        {
            if (!isGranted)
                subscription.Revoke();
            else if (subscription.Credit <= 0)
                subscription.Grant((uint)Math.Min(uint.MaxValue, EngineCredit - subscription.Credit));
        }
        TakeScheduled();
    }

    private void TakeScheduled()
    {
        while (_scheduled.TryDequeue(out OutputStream? stream))
        {
            stream.BeginTurn();
            if (stream.CloseRequested is { Code: not ErrorCode.None } close && IsOver())
            {
                throw new BrokerException(
                    close.Code,
                    $"The subscription to '{_subscriptions[0].Partition.Topic.Name}' has ended: {close.Message}."
                );
            }

            MakeReady((Subscription)stream);
        }
    }

    /// <summary>
    /// Whether a subscription has ended for good. Of several partitions one may fail, and the others go on.
    /// </summary>
    private bool IsOver()
    {
        lock (_subscriptions)
        {
            return _subscriptions.Exists(s =>
                    s.CloseRequested is { Code: not (ErrorCode.None or ErrorCode.TopicFailed) }
                ) || _subscriptions.TrueForAll(s => s.CloseRequested is not null);
        }
    }

    private void MakeReady(Subscription subscription)
    {
        if (_isReady.Add(subscription))
            _ready.Enqueue(subscription);
    }

    /// <summary>Whether nothing can come any more and nothing is left to send.</summary>
    /// <exception cref="BrokerException">It is over because the broker stops.</exception>
    private bool HasFinished()
    {
        bool isOver = _requestsEnded && (_isExplicit || Volatile.Read(ref _credit) <= 0);
        if (_isToldToGo && (isOver || !_isExplicit || Volatile.Read(ref _isTimeOver)))
        {
            Leave();
            throw new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping.");
        }
        if (isOver)
            Leave();
        return isOver;
    }

    /// <summary>The orderly end: what is returned to the group does not count as delivered.</summary>
    private void Leave()
    {
        foreach (Subscription subscription in _subscriptions)
            subscription.RequestClose(StreamClose.Ordinary);
    }

    /// <summary>A client that does not read cannot learn that its subscription has ended: its call is cut.</summary>
    private async Task AbortIfStuckAsync()
    {
        await Task.Delay(StuckTimeout, connectionTime).ConfigureAwait(false);
        _isAbortDue = false;
        if (IsOver())
            Abort();
    }

    private readonly record struct Delivered(Subscription Subscription, Delivery Delivery);
}
