namespace LightQ.Protocol.Frames;

/// <summary>Which messages of a batch a group member gets, and for how long they are locked for it.</summary>
/// <param name="FirstOffset">The first message; 0 or above.</param>
/// <param name="Count">How many messages; 1 or above.</param>
/// <param name="DeliveryId">Names this delivery in settlements; unique within the subscription, never 0.</param>
/// <param name="DeliveryCount">
/// How often these messages have been delivered, this time included: 1 the first time; saturates.
/// </param>
/// <param name="LockMilliseconds">
/// How long the messages are locked for this member, from when the broker sent them.
/// </param>
/// <param name="IsDoubted">
/// Whether the messages were with a member that came to an end: this one says that it begins them, and waits for the
/// answer, before it does.
/// </param>
public readonly record struct GroupDelivery(
    long FirstOffset,
    uint Count,
    uint DeliveryId,
    ushort DeliveryCount,
    uint LockMilliseconds,
    bool IsDoubted = false
)
{
    /// <summary>Bytes that it takes at the front of a GroupDeliver's body.</summary>
    public const int Size = 24;
}
