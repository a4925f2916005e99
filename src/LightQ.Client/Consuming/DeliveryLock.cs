using System.Diagnostics;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>What belongs to the messages of one delivery that their consumer settles.</summary>
/// <remarks>An object, so that a message, which an application copies as it likes, stays small.</remarks>
/// <param name="Settlements">Settles the messages; null when the consumer does not settle them.</param>
/// <param name="DeliveryId">The delivery; 0 on a broadcast subscription.</param>
/// <param name="DeliveryCount">How often they were delivered; 0 on a broadcast subscription.</param>
/// <param name="LockedUntil">When their lock was to expire as they came, by the client's clock, in UTC ticks.</param>
/// <param name="IsDoubted">Whether the messages were with a member that came to an end.</param>
internal sealed record DeliveryLock(
    Settlements? Settlements,
    uint DeliveryId,
    ushort DeliveryCount,
    long LockedUntil,
    bool IsDoubted = false
)
{
    /// <summary>Of messages that nobody settles.</summary>
    public static DeliveryLock None { get; } = new(null, 0, 0, 0);

    /// <summary>Whether the messages are this consumer's; always, where they are not locked.</summary>
    public bool IsHeld => Settlements?.Locks is not { } locks || locks.IsHeld(DeliveryId);

    /// <summary>When their lock runs out if it is not renewed again, in ticks of UTC by the client's clock.</summary>
    public long Until => Settlements?.Locks?.UntilOf(DeliveryId) ?? LockedUntil;

    /// <summary>When they come again if they are abandoned; null where that is not known.</summary>
    public RedeliveryTerms? Terms => Settlements?.Terms;

    /// <summary>Whether the broker takes messages back that nobody has seen.</summary>
    public bool CanGiveBack => Settlements is { CanReturn: true };

    /// <inheritdoc cref="Settlements.IsPassed"/>
    public bool IsPassed => Settlements is { } settlements && settlements.IsPassed(DeliveryId);

    /// <summary>Whether the broker must know that messages are begun before they are.</summary>
    public bool MustAsk => Settlements is { } settlements && settlements.MustAsk(IsDoubted);

    private Settlements Settlement => Settlements ?? throw Consuming.Settlements.NotExplicit();

    /// <inheritdoc cref="HeldLocks.TryHold"/>
    public bool TryHold(ILockHolder holder, TimeSpan renewal) =>
        Settlements?.Locks is not { } locks || locks.TryHold(DeliveryId, holder, renewal);

    /// <inheritdoc cref="HeldLocks.TryExtend"/>
    public bool TryExtend(TimeSpan renewal) =>
        Settlements?.Locks is not { } locks || locks.TryExtend(DeliveryId, renewal);

    /// <inheritdoc cref="HeldLocks.LetGo"/>
    public void LetGo(ILockHolder holder) => Settlements?.Locks?.LetGo(DeliveryId, holder);

    /// <summary>Abandons a message that its consumer leaves, if it is not settled.</summary>
    public bool TryAbandon(long offset)
    {
        if (Settlements is not { Locks: { } locks } settlements || !locks.IsOpen(DeliveryId, offset))
            return false;
        settlements.Abandon(DeliveryId, offset, 1);
        return true;
    }

    /// <inheritdoc cref="Settlements.AskAsync"/>
    public Task<bool> AskAsync(long first, int count) => Settlement.AskAsync(DeliveryId, first, count);

    /// <summary>
    /// The application wants more. If it holds messages that it may have been given alone, it gets others beside them.
    /// </summary>
    public void AskForMore()
    {
        if (IsDoubted && Settlements is { SaysWhatIsBegun: true, HoldsMessages: true, Source: { } source })
            source.AskForMore();
    }

    /// <summary>Says soon that messages are begun, if the broker wants to know.</summary>
    public void TellBegun(long first, int count)
    {
        if (Settlements is { SaysWhatIsBegun: true } settlements)
            settlements.TellBegun(DeliveryId, first, count);
    }

    public void Complete(long first, int count) => Settlement.Complete(DeliveryId, first, count);

    /// <param name="kind">How the messages are settled.</param>
    /// <param name="first">The first message's offset.</param>
    /// <param name="count">How many.</param>
    /// <param name="delay">Milliseconds until abandoned messages are redelivered.</param>
    /// <param name="reason">Why they are dead-lettered, or empty.</param>
    /// <param name="headers">Those of a single message; they may say which trace it belongs to.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public ValueTask<SettleOutcome> SettleAsync(
        SettleKind kind,
        long first,
        int count,
        uint delay,
        string reason,
        ReadOnlySpan<byte> headers,
        CancellationToken cancellationToken
    )
    {
        Settlements settlements = Settlement;
        var range = new SettleRange(kind, DeliveryId, first, (uint)count, delay);
        bool isObserved = Instruments.OperationDuration.Enabled || Instruments.Source.HasListeners();
        return isObserved && settlements.Answer is null
            ? SettleObservedAsync(settlements, range, reason, headers, cancellationToken)
            : settlements.SettleAsync(range, reason, cancellationToken);
    }

    private static ValueTask<SettleOutcome> SettleObservedAsync(
        Settlements settlements,
        SettleRange range,
        string reason,
        ReadOnlySpan<byte> headers,
        CancellationToken cancellationToken
    )
    {
        TraceContext.TryRead(new HeaderEnumerator(headers), out ActivityContext context);
        return settlements.Operations.SettleAsync(
            range,
            context,
            () => settlements.SettleAsync(range, reason, cancellationToken)
        );
    }
}
