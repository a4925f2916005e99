using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>What belongs to the messages of one delivery that their consumer settles.</summary>
/// <param name="Settlements">Where to say what became of them; null when nobody wants to know.</param>
/// <param name="DeliveryId">The delivery; 0 on a broadcast subscription.</param>
/// <param name="DeliveryCount">How often they were delivered; 0 on a broadcast subscription.</param>
/// <param name="LockedUntil">When their lock runs out, by the client's clock, in ticks of UTC.</param>
internal readonly record struct DeliveryLock(Settlements? Settlements, uint DeliveryId, ushort DeliveryCount, long LockedUntil)
{
    /// <summary>Cancelled when the connection that the messages came on has ended, and with it the lock.</summary>
    public CancellationToken Ended => Settlement.Ended;

    private Settlements Settlement => Settlements ?? throw Consuming.Settlements.NotExplicit();

    public void Complete(long first, int count) => Settlement.Complete(DeliveryId, first, count);

    public ValueTask<SettleOutcome> SettleAsync(SettleKind kind, long first, int count, uint delay, string reason, CancellationToken cancellationToken) =>
        Settlement.SettleAsync(new SettleRange(kind, DeliveryId, first, (uint)count, delay), reason, cancellationToken);
}
