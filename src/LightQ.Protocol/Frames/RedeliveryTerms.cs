namespace LightQ.Protocol.Frames;

/// <summary>When a message comes again that a member of a group has abandoned, as its topic says.</summary>
/// <param name="MaxDeliveries">How often it is delivered before it is dead-lettered; 0: without end.</param>
/// <param name="FirstMilliseconds">How long it stays away for the first time; each time twice as long.</param>
/// <param name="MostMilliseconds">The longest time for which it stays away.</param>
public readonly record struct RedeliveryTerms(uint MaxDeliveries, uint FirstMilliseconds, uint MostMilliseconds)
{
    /// <summary>How long a message stays away that was delivered so often; null when it does not come again.</summary>
    public TimeSpan? DelayAfter(int deliveries)
    {
        if (MaxDeliveries != 0 && deliveries >= MaxDeliveries)
            return null;
        int doublings = Math.Clamp(deliveries - 1, 0, 32);
        return TimeSpan.FromMilliseconds(Math.Min((ulong)FirstMilliseconds << doublings, MostMilliseconds));
    }
}
