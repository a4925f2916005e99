using System.Diagnostics;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>What belongs to the messages of one delivery that their consumer settles.</summary>
/// <param name="Settlements">Settles the messages; null when the consumer does not settle them.</param>
/// <param name="DeliveryId">The delivery; 0 on a broadcast subscription.</param>
/// <param name="DeliveryCount">How often they were delivered; 0 on a broadcast subscription.</param>
/// <param name="LockedUntil">When their lock expires, by the client's clock, in ticks of UTC.</param>
/// <param name="Milliseconds">How long that is, of a new or renewed lock.</param>
internal readonly record struct DeliveryLock(
    Settlements? Settlements,
    uint DeliveryId,
    ushort DeliveryCount,
    long LockedUntil,
    uint Milliseconds
)
{
    /// <summary>Cancelled when the connection that the messages came on has ended, and with it the lock.</summary>
    public CancellationToken Ended => Settlement.Ended;

    private Settlements Settlement => Settlements ?? throw Consuming.Settlements.NotExplicit();

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
