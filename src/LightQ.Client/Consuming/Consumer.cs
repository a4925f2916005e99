using LightQ.Client.Connections;
using LightQ.Client.Timing;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>
/// One enumeration's end of its subscriptions, one for each partition: the queue of what was delivered to them, in the
/// order in which it arrived.
/// </summary>
/// <remarks>
/// Thread-safe. First come, first served keeps each partition's order and is fair: no partition has more in the queue
/// than its share of the credit, so none can keep another waiting for longer than that. The queue survives a reconnect:
/// each subscription resumes after the last batch that it queued.
/// </remarks>
internal sealed class Consumer
{
    /// <summary>
    /// A partition's credit, at least. A balance above zero gets a whole run, so more would only cost memory.
    /// </summary>
    private const int SmallestShare = 16 * 1024;

    /// <summary>How long a loop may stand still before what waits is given back; at most half a lock.</summary>
    private static readonly TimeSpan LongestPatience = TimeSpan.FromSeconds(2);

    private readonly BrokerLinks _links;
    private readonly ClientEvents _events;
    private readonly DeliveryQueue _queue = new();
    private readonly List<Subscription> _subscriptions = [];
    private readonly ITimer? _watch;
    private DeliveryReader? _waiter;
    private LightQException? _end;
    private bool _isClosed;
    private bool _isWatched;
    private bool _stoodStill;
    private bool _beginsNoMore;
    private int _atATime;
    private TimeSpan _patience;
    private bool _isOpened;

    public Consumer(BrokerLinks links, string topic, ConsumeOptions options, ClientEvents events, ILoop loop)
    {
        _links = links;
        _events = events;
        Loop = loop;
        Topic = topic;
        Options = options;
        AwaitsEnd = options.OnCaughtUp is not null;
        Settles = options is { Group: not null, SettleMode: SettleMode.Explicit };
        if (Settles)
            _watch = ClientTimer.Create(Time, static consumer => ((Consumer)consumer!).Watch(), this);
        if (loop.Window.AtATime != 0)
            (loop.Window.Changed, loop.Window.Ended, loop.Window.Lack) = (OnWindowChanged, OnWindowEnded, Lack);
        Late = new LateSettlements(links.Logger, Time, topic, options.Group);
        Memory = new DeliveryMemory(links.Blocks, options.CreditBytes);
    }

    public string Topic { get; }

    public ConsumeOptions Options { get; }

    /// <summary>What hands the messages out.</summary>
    public ILoop Loop { get; }

    /// <summary>Hears of settlements that come too late.</summary>
    public LateSettlements Late { get; }

    /// <summary>Whether it is a member of a group that settles: what it is delivered is locked for it.</summary>
    public bool Settles { get; }

    /// <summary>
    /// Whether the application is still to be told that it has read up to the end. The reader's own.
    /// </summary>
    public bool AwaitsEnd { get; private set; }

    /// <summary>Whether nothing waits to be handed out.</summary>
    public bool IsDrained
    {
        get
        {
            lock (Gate)
                return _queue.Count == 0;
        }
    }

    /// <summary>What a subscription begins with. Called under the gate, or before there are others.</summary>
    public WindowFrame FirstWindow => Settles ? WindowFor(inHand: 0, Loop.Window.Ahead) : default;

    /// <summary>The clock of locks.</summary>
    public TimeProvider Time => _links.Options.TimeProvider;

    /// <summary>What the broker knows by which streams belong to this consumer; 0 while it has one.</summary>
    public uint Member { get; private set; }

    /// <summary>Guards everything of this consumer and of its subscriptions.</summary>
    public Lock Gate { get; } = new();

    /// <summary>Where queued runs are kept; guarded by the gate.</summary>
    public DeliveryMemory Memory { get; }

    /// <summary>Whether nothing is delivered any more. Called under the gate.</summary>
    public bool HasEnded => _end is not null;

    /// <summary>Whether a reader waits. Called under the gate.</summary>
    public bool IsAwaited => _waiter is not null;

    /// <summary>
    /// Whether the application enumerates by itself: it has stopped working when it does not ask. A processor takes all
    /// at once, and a fetch comes when it comes.
    /// </summary>
    public bool IsLoop => Loop.Window is { AtATime: 0, Fetched: 0 };

    /// <summary>Subscribes to the partition that the options name, or to all.</summary>
    /// <exception cref="LightQException">One of them cannot be opened; then all are closed.</exception>
    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        try
        {
            Subscription first = Add(
                Options.Partition is { } partition ? (uint)partition : OpenProducerFrame.AnyPartition,
                Options.CreditBytes
            );
            await first.FirstAnswer.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (LightQException e) when (e.Code == ErrorCode.UnknownPartition && Options.Partition is null)
        {
            // The topic has several partitions, and a stream is of one.
            await OpenEachAsync(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            Close();
            throw;
        }
    }

    /// <summary>
    /// Tells the application when each partition has been read up to where it ended: it has worked on all of that, and
    /// asks for more. Called by the reader.
    /// </summary>
    public void CheckEnd()
    {
        lock (Gate)
        {
            if (_subscriptions.Count == 0 || !_subscriptions.TrueForAll(static s => s.HasCaughtUp))
                return;
        }
        AwaitsEnd = false;
        Options.OnCaughtUp!();
    }

    /// <summary>Puts something into the queue. Called under the gate.</summary>
    public void Enqueue(in Delivery delivery)
    {
        _queue.Enqueue(delivery);
        if (delivery.Settlements is not { CanReturn: true } settlements)
            return;
        if (settlements.IsReturning)
            GiveBackNewest((int)delivery.Range.Count); // It would come before what comes again.
        else if (!_isWatched && IsLoop)
            BeginToWatch(TimeSpan.FromMilliseconds(delivery.Range.LockMilliseconds));
    }

    /// <summary>
    /// Says to the broker how much the loop is worth, if that is news, and gives back what is too much.
    /// </summary>
    /// <param name="rest">How many messages are left of the delivery that is being handed out.</param>
    /// <param name="isOther">Whether the window is another one.</param>
    /// <returns>How many of these are too much.</returns>
    public int Resize(int rest, bool isOther)
    {
        lock (Gate)
        {
            int inHand = Math.Max(0, Held() - _queue.Messages - rest);
            int atATime = inHand + Loop.Unit;
            if (!isOther && !_stoodStill && atATime <= _atATime && atATime >= _atATime / 2)
                return 0;
            (_stoodStill, _atATime) = (false, atATime);
            Say(WindowFor(inHand, Loop.Window.Ahead));
            int allowed = Math.Max(1, Loop.Window.Ahead),
                waiting = _queue.Messages + rest;
            if (!isOther || !IsLoop || waiting <= 2 * allowed || !_subscriptions.TrueForAll(static s => s.CanReturn))
                return 0;
            return GiveBackNewest(waiting - allowed);
        }
    }

    /// <summary>
    /// Takes the next delivery, or registers <paramref name="waiter"/> to be resumed when there is one.
    /// </summary>
    /// <returns>False when there is none.</returns>
    /// <exception cref="LightQException">A subscription has ended and everything before was taken.</exception>
    public bool TryTake(DeliveryReader? waiter, out Delivery delivery)
    {
        lock (Gate)
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
    /// <returns>Whether it waited; then nothing else resumes it.</returns>
    public bool TryStopWaiting(DeliveryReader waiter)
    {
        lock (Gate)
        {
            if (_waiter != waiter)
                return false;
            _waiter = null;
            return true;
        }
    }

    /// <summary>Resumes the reader if it waits and there is something for it.</summary>
    public void Wake()
    {
        DeliveryReader? waiter;
        lock (Gate)
        {
            if (_queue.Count == 0 && _end is null)
                return;
            (waiter, _waiter) = (_waiter, null);
        }
        waiter?.Resume(Options.Scheduling == ContinuationScheduling.Inline);
    }

    /// <summary>
    /// The enumeration ends with this, behind what is queued. Called under the gate; <see cref="Wake"/> after it.
    /// </summary>
    public void End(LightQException reason) => _end ??= reason;

    /// <summary>
    /// Whether a partition that is answered like this leaves the others to be consumed. Called under the gate.
    /// </summary>
    public bool Outlives(LightQException reason) =>
        Member != 0 && Options.GapAction == GapAction.Continue && PartitionRefusal.Is(reason.Code);

    /// <summary>Ends the enumeration when no partition is left. Called under the gate.</summary>
    public void EndIfAllAreRefused()
    {
        if (_isOpened && _subscriptions.TrueForAll(static s => s.Refusal is not null))
            End(_subscriptions[0].Refusal!);
    }

    /// <summary>Reports a gap to the application.</summary>
    public void Report(MessageGap gap)
    {
        // What has expired was to be lost then: nothing to warn of.
        if (gap.Reason != GapReason.Expired)
            ClientLog.Gap(_links.Logger, gap.Topic, gap.Partition, gap.FirstOffset, gap.LastOffset, gap.Reason);
        Options.OnGap?.Invoke(gap);
        _events.OnGap(gap);
    }

    /// <summary>
    /// Reports to the application that the broker has ended a subscription because it was too slow. Not called under
    /// the gate.
    /// </summary>
    public void ReportSlow(int partition, LightQException reason) =>
        _events.OnSlowConsumer(Topic, partition, Options.Group, reason);

    /// <summary>
    /// Reports to the application that the broker does not serve a partition, and that the others are consumed without
    /// it. Not called under the gate.
    /// </summary>
    public void ReportRefused(int partition, LightQException reason) =>
        _events.OnPartitionRefused(Topic, partition, Options.Group, reason);

    /// <summary>Ends all subscriptions and lets go of everything that is queued.</summary>
    public void Close()
    {
        _watch?.Dispose();
        foreach (Subscription subscription in _subscriptions)
            subscription.Close();
        lock (Gate)
        {
            _isClosed = true;
            while (_queue.TryDequeue(out Delivery delivery))
                Memory.Release(delivery);
            Memory.Close();
        }
    }

    /// <summary>Messages that were delivered and are not settled.</summary>
    private int Held()
    {
        int held = 0;
        foreach (Subscription subscription in _subscriptions)
            held += subscription.Held;
        return held;
    }

    /// <summary>Why a partition gives nothing; null while all do, as far as is known.</summary>
    private LightQException? Lack()
    {
        lock (Gate)
        {
            if (_isClosed)
                return null;
            foreach (Subscription subscription in _subscriptions)
            {
                if (subscription.Lack is { } lack)
                    return lack;
            }
            return null;
        }
    }

    private void OnWindowChanged()
    {
        lock (Gate)
        {
            if (!_beginsNoMore)
                Say(WindowFor(inHand: 0, Loop.Window.Ahead));
        }
    }

    /// <summary>
    /// Gives back what waits, and leaves the partitions of which nothing is in hand: another member gets them. On the
    /// others nothing more comes.
    /// </summary>
    private void OnWindowEnded()
    {
        Subscription[] idle;
        lock (Gate)
        {
            if (_isClosed || !_subscriptions.TrueForAll(static s => s.CanReturn))
                return;
            _beginsNoMore = true;
            Say(new WindowFrame(1, 1));
            GiveBackNewest(_queue.Messages);
            idle = [.. _subscriptions.Where(static s => !s.HasUnanswered)];
        }
        foreach (Subscription subscription in idle)
            subscription.Close();
    }

    private WindowFrame WindowFor(int inHand, int ahead)
    {
        int partitions = Math.Max(1, _subscriptions.Count),
            unit = Math.Max(Loop.Unit, Loop.Window.Fetched);
        WindowFrame window = Loop.Window.AtATime is > 0 and var atATime
            ? new WindowFrame((uint)(atATime + ahead), (uint)atATime)
            : new WindowFrame((uint)(inHand + ((unit + ahead + partitions - 1) / partitions)), (uint)(inHand + unit));
        return Options.MaxInFlight == 0 || Loop.Window.AtATime != 0
            ? window
            : window with
            {
                MaxInFlight = Math.Min(window.MaxInFlight, (uint)Options.MaxInFlight),
            };
    }

    private void Say(in WindowFrame window)
    {
        foreach (Subscription subscription in _subscriptions)
            subscription.Resize(window);
    }

    /// <summary>Gives back what was delivered last.</summary>
    /// <returns>How many messages more are to be given back.</returns>
    private int GiveBackNewest(int count)
    {
        while (count > 0 && _queue.TryTakeLast(out Delivery delivery))
        {
            int some = Math.Min(count, (int)delivery.Range.Count),
                kept = (int)delivery.Range.Count - some;
            long first = delivery.Range.FirstOffset + kept;
            delivery.Settlements!.GiveBack(
                new SettleRange(SettleKind.Return, delivery.Range.DeliveryId, first, (uint)some)
            );
            count -= some;
            if (kept == 0)
            {
                delivery.Source.Drop(delivery);
                continue;
            }
            delivery.Held!.End = first;
            _queue.Enqueue(delivery with { Range = delivery.Range with { Count = (uint)kept } });
        }
        return count;
    }

    private void BeginToWatch(TimeSpan lockDuration)
    {
        _patience = lockDuration / 2 < LongestPatience ? lockDuration / 2 : LongestPatience;
        _isWatched = true;
        _watch!.Change(_patience / 2, Timeout.InfiniteTimeSpan);
    }

    /// <summary>
    /// Looks whether the loop stands still, for as long as something is delivered: then it keeps nothing but what the
    /// application has in its hands.
    /// </summary>
    private void Watch()
    {
        lock (Gate)
        {
            int held = Held();
            _isWatched = held != 0 && !_isClosed;
            if (!_isWatched)
                return;
            _watch!.Change(_patience / 2, Timeout.InfiniteTimeSpan);
            if (Time.GetElapsedTime(Loop.MovedAt) < _patience || !_subscriptions.TrueForAll(static s => s.CanReturn))
            {
                return;
            }
            bool isStopped = Loop.TryStop(out Settlements? settlements, out SettleRange rest);
            int waiting = _queue.Messages + (int)rest.Count;
            if (waiting == 0 && (_stoodStill || !isStopped))
                return; // It keeps nothing; or it asks, and there is nothing.
            _stoodStill = true;
            var keeps = (uint)Math.Max(1, held - waiting);
            Say(new WindowFrame(keeps, keeps));
            if (rest.Count != 0)
                settlements!.GiveBack(rest);
            GiveBackNewest(waiting);
        }
    }

    private async Task OpenEachAsync(CancellationToken cancellationToken)
    {
        _subscriptions[0].Close();
        lock (Gate)
            _subscriptions.Clear();
        try
        {
            if (Options.Start.Kind == StartKind.Offset)
            {
                throw new LightQException(
                    ErrorCode.InvalidArgument,
                    $"{Topic} has several partitions, each with offsets of its own: a start at an offset needs one of "
                        + $"them, as in '{Topic}/0'."
                );
            }

            Member = _links.NextMember();
            Subscription first = await OpenFirstAsync(cancellationToken).ConfigureAwait(false);
            int count = first.PartitionCount;
            if (count is < 1 or > ProtocolLimits.MaxPartitions)
            {
                throw new LightQException(
                    ErrorCode.NotSupported,
                    $"{Topic} has {(uint)count} partitions; this version of the client knows up to "
                        + $"{ProtocolLimits.MaxPartitions}."
                );
            }

            int share = Math.Max(SmallestShare, Options.CreditBytes / count);
            foreach (Subscription open in _subscriptions)
                open.Grow(share);
            for (uint partition = (uint)_subscriptions.Count; partition < count; partition++)
                Add(partition, share);
            await Task.WhenAll(_subscriptions.Select(s => s.FirstAnswer))
                .WaitAsync(cancellationToken)
                .ConfigureAwait(false);
            lock (Gate)
            {
                _isOpened = true;
                if (Settles)
                    Say(FirstWindow);
                EndIfAllAreRefused();
            }
        }
        catch
        {
            Close();
            throw;
        }
    }

    /// <summary>Opens the first partition that is served: it says how many there are.</summary>
    /// <exception cref="LightQException">None is; or the first cannot be opened for another reason.</exception>
    private async Task<Subscription> OpenFirstAsync(CancellationToken cancellationToken)
    {
        for (uint partition = 0; ; partition++)
        {
            Subscription asked = Add(partition, SmallestShare);
            try
            {
                if (await asked.FirstAnswer.WaitAsync(cancellationToken).ConfigureAwait(false) is null)
                    return asked;
            }
            catch (LightQException e) when (e.Code == ErrorCode.UnknownPartition && partition > 0)
            {
                // There are no more, and each of them was refused.
                throw (await _subscriptions[0].FirstAnswer.ConfigureAwait(false))!.Copy();
            }
        }
    }

    private Subscription Add(uint partition, int credit)
    {
        var subscription = new Subscription(_links, this, partition, credit);
        lock (Gate)
            _subscriptions.Add(subscription);
        _links.Attach(subscription);
        return subscription;
    }
}
