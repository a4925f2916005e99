namespace LightQ.Broker.Groups;

/// <summary>Messages that members were given and have not settled, and that come again.</summary>
/// <param name="First">The first offset.</param>
/// <param name="Count">How many messages; 1 or above.</param>
/// <param name="Deliveries">How often they have been delivered; saturates.</param>
/// <param name="NotBefore">When they may come again, in unix microseconds; 0 for at once.</param>
internal readonly record struct Redelivery(long First, int Count, ushort Deliveries, long NotBefore)
{
    /// <summary>One behind the last offset.</summary>
    public long End => First + Count;
}
