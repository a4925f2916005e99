namespace LightQ.Broker.Cluster;

/// <summary>
/// Says that no node has led a partition for a while, and what that waits for: nothing waits in silence. One thread at
/// a time.
/// </summary>
/// <param name="conditions">Where it is said.</param>
/// <param name="topic">The topic's name.</param>
/// <param name="subject">The topic's name and the partition's number.</param>
/// <param name="options">How long that may last.</param>
/// <param name="time">The clock.</param>
internal sealed class UnledPartition(
    ClusterConditions conditions,
    string topic,
    string subject,
    MemberOptions options,
    TimeProvider time
)
{
    private readonly Leaderless _leaderless = new(time);
    private long? _looked;

    /// <summary>The node looks.</summary>
    /// <param name="now">What is known of the partition.</param>
    /// <param name="node">The node.</param>
    /// <param name="mayClaim">Whether it may claim anything.</param>
    /// <param name="failure">Why it could not claim the partition last; null if it did not try, or could.</param>
    /// <returns>Within which time to look again; null when that depends on what is heard.</returns>
    public TimeSpan? Look(in Situation now, string node, bool mayClaim, string? failure)
    {
        if (now.IsLed)
        {
            End();
            return null;
        }
        if (Wait() is { } left)
            return left;
        if (now.Ranking is not [var first, ..] || first == node)
            Say(Why(now, node, mayClaim, failure));
        else
            conditions.End(ConditionKind.PartitionUnled, subject); // That one says it.
        return options.UnledFor;
    }

    /// <summary>The same while it claims the partition.</summary>
    public void LookWhileClaimed(string node)
    {
        if (Wait() is null)
            Say($"{node} claims it, and waits for the replicated log");
    }

    /// <summary>A node leads it, or nobody is to.</summary>
    public void End()
    {
        _leaderless.Look(isLed: true);
        if (_looked is null)
            return;
        _looked = null;
        conditions.End(ConditionKind.PartitionUnled, subject);
    }

    /// <remarks>What it waits for changes all the time, and is not said as often.</remarks>
    /// <returns>What is left until it is to be said; null when that is now.</returns>
    private TimeSpan? Wait()
    {
        TimeSpan lasted = _leaderless.Look(isLed: false);
        TimeSpan left = options.UnledFor - (_looked is { } looked ? time.GetElapsedTime(looked) : lasted);
        if (left > TimeSpan.Zero)
            return left;
        _looked = time.GetTimestamp();
        return null;
    }

    private static string Why(in Situation now, string node, bool mayClaim, string? failure) =>
        !mayClaim ? $"{node} does not hear itself through the replicated log, or another process has its name"
        : failure is not null ? $"{node} could not claim it: {failure}"
        : now.ReleasedTo.Length != 0 ? $"it was released to {now.ReleasedTo}, which has not claimed it"
        : now.Claimant.Length != 0 ? $"{now.Claimant} claims it"
        : now.Ranking.Count == 0 ? "no broker is alive that takes partitions"
        : $"{node} is about to claim it";

    private void Say(string reason) =>
        conditions.Begin(
            ConditionKind.PartitionUnled,
            subject,
            $"no broker leads it: {reason}",
            "The brokers go on trying. See whether the nats-servers have a majority, and what the log of the broker "
                + "says that is to lead it.",
            topic
        );
}
