namespace LightQ.Protocol.Frames;

/// <summary>One entry of a Settle: how a range of delivered messages is settled.</summary>
/// <param name="Kind">How the consumer settles them.</param>
/// <param name="DeliveryId">The delivery that brought them; 0 on a broadcast subscription, which has none.</param>
/// <param name="FirstOffset">The first message; 0 or above.</param>
/// <param name="Count">How many messages; 1 or above.</param>
/// <param name="DelayMilliseconds">
/// For <see cref="SettleKind.Abandon"/>, how long to wait before they are redelivered; else 0.
/// </param>
public readonly record struct SettleRange(
    SettleKind Kind,
    uint DeliveryId,
    long FirstOffset,
    uint Count,
    uint DelayMilliseconds = 0
)
{
    /// <summary>Bytes of an entry.</summary>
    public const int Size = 24;
}
