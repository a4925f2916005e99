using System.Text;
using LightQ.Client.Connections;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>
/// Settles the messages of one subscription on the connection that delivered them. Each connection has another object.
/// </summary>
/// <remarks>
/// Thread-safe. Messages hold on to it, so that settling them after a reconnect cannot settle other messages with the
/// same offsets. Without an outbox it belongs to a message that no broker has delivered, and <see cref="Answer"/> is
/// set.
/// </remarks>
internal sealed class Settlements(
    Outbox? outbox,
    PendingSettlements completions,
    string topic,
    bool isGroup,
    ConsumeOperations operations
)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, TaskCompletionSource<SettleOutcome>> _unanswered = [];
    private readonly PendingSettlements _begun = new(completions.Stream, SettleKind.Begin);
    private InHand? _hand;
    private LightQException? _end;
    private uint _lastTag;
    private int _returns;
    private uint _lastBeforeReturn;
    private volatile bool _hasReturned;
    private volatile bool _hasBegun;

    /// <summary>The subscription.</summary>
    public uint Stream { get; } = completions.Stream;

    /// <summary>What spans and measurements say of it.</summary>
    public ConsumeOperations Operations { get; } = operations;

    /// <summary>Whether the broker is told which messages are begun: only the deliveries of those count.</summary>
    public bool SaysWhatIsBegun { get; init; }

    /// <summary>
    /// Whether it must know of each before it is begun: where a clock is moved by hand, what is told soon is too late.
    /// </summary>
    public bool AsksAlways { get; init; }

    /// <summary>The subscription; null where no broker has delivered the messages.</summary>
    public Subscription? Source { get; init; }

    /// <summary>Whether the application holds messages that it has not settled, or they wait for it.</summary>
    public bool HoldsMessages => Locks is { Open: > 0 };

    /// <summary>Answers in the place of a broker; null where there is one.</summary>
    public Func<MessageSettlement, SettleOutcome>? Answer { get; init; }

    /// <summary>When abandoned messages come again; null without a group, and from an older broker.</summary>
    public RedeliveryTerms? Terms { get; set; }

    /// <summary>How long the lock of the last delivery lasts; none has come before it is set.</summary>
    public TimeSpan LockTime { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The locks of what a member of a group was delivered; null without a group.</summary>
    public HeldLocks? Locks { get; init; }

    /// <summary>Whether the broker takes messages back that nobody has seen.</summary>
    public bool CanReturn { get; init; }

    /// <summary>Whether it has not answered yet that it has: what arrives meanwhile lies behind them.</summary>
    public bool IsReturning => Volatile.Read(ref _returns) != 0;

    /// <summary>Hears of settlements that come too late; null without a group.</summary>
    public LateSettlements? Late { get; init; }

    /// <summary>
    /// Whether a caller waits for the broker's answer, or members of a group hold messages that they have not settled.
    /// </summary>
    public bool HasUnanswered
    {
        get
        {
            lock (_gate)
                return _unanswered.Count > 0 || Locks is { Open: > 0 };
        }
    }

    /// <summary>
    /// Completes messages; the completion goes with what is sent next. Does nothing once the connection has ended.
    /// </summary>
    public void Complete(uint deliveryId, long first, int count)
    {
        if (outbox is null)
        {
            Answer!(new MessageSettlement(SettleKind.Complete, first, null, ""));
            return;
        }
        if (!completions.TryAdd(deliveryId, first, (uint)count))
        {
            // First: a renewal that follows must not name what is settled.
            Locks?.Settling(deliveryId, first, (uint)count);
            outbox.Settle(completions, deliveryId, first, (uint)count);
        }
        _hand?.OnSettled(first, count);
    }

    /// <summary>Settles messages and waits for the broker's answer.</summary>
    /// <remarks>
    /// The members of a group lose their messages with the connection: the outcome is then that the lock has expired.
    /// </remarks>
    public async ValueTask<SettleOutcome> SettleAsync(
        SettleRange range,
        string reason,
        CancellationToken cancellationToken
    )
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (outbox is null)
        {
            TimeSpan? delay = range.DelayMilliseconds == 0 ? null : TimeSpan.FromMilliseconds(range.DelayMilliseconds);
            return Answer!(new MessageSettlement(range.Kind, range.FirstOffset, delay, reason));
        }
        var answered = new TaskCompletionSource<SettleOutcome>(TaskCreationOptions.RunContinuationsAsynchronously);
        uint tag;
        lock (_gate)
        {
            if (_end is not null)
                return isGroup ? SettleOutcome.LockExpired : throw _end.Copy();
            _lastTag = (_lastTag + 1) & ~HeldLocks.RenewalTag;
            if (_lastTag == 0)
                _lastTag++;
            tag = _lastTag;
            _unanswered.Add(tag, answered);
        }
        bool isRenewal = range.Kind == SettleKind.Renew,
            settles = range.Kind is not (SettleKind.Renew or SettleKind.Begin);
        if (settles)
        {
            Locks?.Settling(range.DeliveryId, range.FirstOffset, range.Count);
            _hand?.OnSettled(range.FirstOffset, range.Count);
        }
        long askedAt = isRenewal && Locks is not null ? Locks.Now : 0;
        outbox.Settle(Stream, tag, range, Encoding.UTF8.GetBytes(reason));
        SettleOutcome outcome = await answered.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
        if (isRenewal && outcome == SettleOutcome.Done)
            Locks?.OnRenewed(range.DeliveryId, askedAt);
        else if (settles)
            OnOutcome(range.Kind, range.Count, outcome);
        return outcome;
    }

    /// <summary>Gives messages back that nobody has seen.</summary>
    public void GiveBack(in SettleRange range) => GiveBack(new ReadOnlySpan<SettleRange>(in range));

    /// <inheritdoc cref="GiveBack(in SettleRange)"/>
    public void GiveBack(ReadOnlySpan<SettleRange> ranges)
    {
        Interlocked.Increment(ref _returns);
        foreach (SettleRange range in ranges)
            Locks!.Settling(range.DeliveryId, range.FirstOffset, range.Count);
        outbox!.Settle(Stream, HeldLocks.ReturnTag, ranges);
    }

    /// <summary>
    /// Whether messages were given back after a delivery was sent: they lie before it, and it would overtake them.
    /// Called for one delivery after the other.
    /// </summary>
    public bool IsPassed(uint deliveryId)
    {
        if (IsReturning)
            return true;
        if (!_hasReturned)
            return false;
        if ((int)(deliveryId - Volatile.Read(ref _lastBeforeReturn)) <= 0)
            return true;
        _hasReturned = false;
        return false;
    }

    /// <summary>Abandons messages that the application leaves; nobody waits for the answer.</summary>
    public void Abandon(uint deliveryId, long first, uint count)
    {
        Locks!.Settling(deliveryId, first, count);
        outbox!.Settle(Stream, 0, new SettleRange(SettleKind.Abandon, deliveryId, first, count), default);
    }

    private void OnOutcome(SettleKind kind, uint count, SettleOutcome outcome)
    {
        if (outcome == SettleOutcome.Done)
            Late?.OnTimely();
        if (outcome != SettleOutcome.LockExpired)
            return;
        Late?.OnLate();
        Operations.OnLate(kind, (int)count);
    }

    /// <summary>
    /// Whether the broker must know that messages are begun before they are: so that a message which ends this program
    /// at once is found out. True of the first messages of each connection, and of those that were with a member which
    /// has ended.
    /// </summary>
    public bool MustAsk(bool isDoubted) => SaysWhatIsBegun && (isDoubted || AsksAlways || !_hasBegun);

    /// <summary>Says that messages are begun, and waits until the broker knows.</summary>
    /// <returns>False when they are no longer this consumer's.</returns>
    public async Task<bool> AskAsync(uint deliveryId, long first, int count)
    {
        try
        {
            var range = new SettleRange(SettleKind.Begin, deliveryId, first, (uint)count);
            if (await SettleAsync(range, "", CancellationToken.None).ConfigureAwait(false) != SettleOutcome.Done)
                return false;
            _hasBegun = true;
            return true;
        }
        catch (LightQException)
        {
            return false; // The connection ended, and the lock with it.
        }
    }

    /// <summary>Messages are handed to a loop.</summary>
    /// <param name="deliveryId">The delivery.</param>
    /// <param name="first">The first.</param>
    /// <param name="count">How many.</param>
    /// <param name="isTold">Whether the broker knows already.</param>
    public void TakeInHand(uint deliveryId, long first, int count, bool isTold = false) =>
        (_hand ??= new InHand()).Take(outbox!, _begun, deliveryId, first, count, isTold);

    /// <summary>A message is handed to a handler of its own.</summary>
    /// <param name="hand">What that handler works on.</param>
    /// <param name="deliveryId">The delivery.</param>
    /// <param name="offset">The message.</param>
    public void TakeInHand(InHand hand, uint deliveryId, long offset) =>
        hand.Take(outbox!, _begun, deliveryId, offset, 1);

    /// <summary>Says soon that messages are begun.</summary>
    public void TellBegun(uint deliveryId, long first, int count) =>
        outbox!.Settle(_begun, deliveryId, first, (uint)count);

    /// <summary>A delay as the wire has it; zero is the shortest there is, since 0 leaves it to the broker.</summary>
    public static uint Milliseconds(TimeSpan? delay) =>
        delay switch
        {
            null => 0,
            { } time when time < TimeSpan.Zero || time.TotalMilliseconds > uint.MaxValue =>
                throw new ArgumentOutOfRangeException(nameof(delay), time, "0 to 49 days"),
            { } time => Math.Max(1, (uint)time.TotalMilliseconds),
        };

    /// <exception cref="ArgumentException">The reason is longer than a frame can say.</exception>
    public static string CheckReason(string reason)
    {
        ArgumentNullException.ThrowIfNull(reason);
        return Encoding.UTF8.GetByteCount(reason) <= ushort.MaxValue
            ? reason
            : throw new ArgumentException($"A reason has at most {ushort.MaxValue} bytes in UTF-8.", nameof(reason));
    }

    /// <summary>Takes an answer.</summary>
    /// <returns>
    /// The first range that was settled before and no caller waits for; its count is 0 when there is none.
    /// </returns>
    public SettledRange OnSettled(uint tag, SettledFrame frame)
    {
        if (tag == HeldLocks.ReturnTag)
        {
            Volatile.Write(ref _lastBeforeReturn, Locks!.LastDelivery);
            _hasReturned = true;
            Interlocked.Decrement(ref _returns);
            return default;
        }
        if (tag == HeldLocks.RenewalTag)
        {
            Locks?.OnAnswered(frame);
            return default;
        }
        TaskCompletionSource<SettleOutcome>? answered;
        bool isAwaited;
        lock (_gate)
            isAwaited = _unanswered.Remove(tag, out answered);
        SettledRange refused = default;
        for (int i = 0; i < frame.Count; i++)
        {
            SettledRange range = frame[i];
            if (!isAwaited && range.Outcome == SettleOutcome.LockExpired)
                OnOutcome(SettleKind.Complete, range.Count, range.Outcome);
            else if (range.Outcome != SettleOutcome.Done && refused.Count == 0)
                refused = range;
        }
        if (!isAwaited)
            return refused;
        answered!.SetResult(refused.Outcome);
        return default;
    }

    /// <summary>The subscription has ended on this connection: nothing is answered any more.</summary>
    public void End(LightQException reason)
    {
        TaskCompletionSource<SettleOutcome>[] left;
        lock (_gate)
        {
            _end ??= new LightQException(
                ErrorCode.Closed,
                $"The connection that delivered the messages of {topic} has ended; they can no longer be settled, and "
                    + $"are redelivered.",
                reason
            );
            left = [.. _unanswered.Values];
            _unanswered.Clear();
        }
        Locks?.Dispose();
        foreach (TaskCompletionSource<SettleOutcome> answered in left)
        {
            answered.SetException(
                new LightQException(
                    ErrorCode.OutcomeUnknown,
                    $"The connection ended before the broker answered: {reason.Message}",
                    reason
                )
            );
        }
    }

    /// <summary>The exception for a caller that settles messages of another kind of subscription.</summary>
    public static InvalidOperationException NotExplicit() =>
        new(
            $"The messages of this subscription need not be completed; set "
                + $"{nameof(ConsumeOptions)}.{nameof(ConsumeOptions.SettleMode)} to {nameof(SettleMode.Explicit)} to "
                + $"do so."
        );

    /// <summary>A range for people.</summary>
    public static string Describe(in SettledRange range) =>
        range.Count == 1
            ? $"Message {range.FirstOffset}"
            : $"Messages {range.FirstOffset} to {range.FirstOffset + range.Count - 1}";
}
