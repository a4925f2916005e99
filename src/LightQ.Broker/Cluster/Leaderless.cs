namespace LightQ.Broker.Cluster;

/// <summary>For how long a partition has had no leader, as far as one node knows.</summary>
/// <remarks>
/// A node looks when something has changed, which may be hours after it looked last. So the time begins with the first
/// look that finds no leader, and not with the last one that found one: else every choice would claim at once.
/// </remarks>
internal sealed class Leaderless(TimeProvider time)
{
    private long? _since;

    /// <summary>The node looks.</summary>
    /// <param name="isLed">Whether there is a leader, or the node cannot know it.</param>
    /// <returns>For how long there has been none.</returns>
    public TimeSpan Look(bool isLed)
    {
        if (isLed)
        {
            _since = null;
            return TimeSpan.Zero;
        }
        _since ??= time.GetTimestamp();
        return time.GetElapsedTime(_since.Value);
    }

    /// <summary>It begins anew with the next look.</summary>
    public void Reset() => _since = null;
}
