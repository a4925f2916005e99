namespace LightQ.Broker.Cluster;

/// <summary>Whether a node that does not lead a partition is to claim it now.</summary>
/// <param name="IsMine">Whether it is.</param>
/// <param name="Wait">Else: within which time to look again; null when that depends on what is heard.</param>
/// <param name="Wants">Whether it is placed first, and another node leads.</param>
/// <param name="IsPinned">Whether an operator wished it.</param>
/// <param name="IsEarly">Whether a node that is placed before it has just started, and will claim soon.</param>
internal readonly record struct Turn(
    bool IsMine,
    TimeSpan? Wait = null,
    bool Wants = false,
    bool IsPinned = false,
    bool IsEarly = false
)
{
    /// <summary>Decides it.</summary>
    /// <param name="now">What is known of the partition.</param>
    /// <param name="self">The node that asks.</param>
    /// <param name="leaderless">For how long the partition has had no leader, as far as the node knows.</param>
    /// <param name="options">How long to wait for others.</param>
    public static Turn Of(in Situation now, string self, TimeSpan leaderless, MemberOptions options)
    {
        int rank = IndexOf(now.Ranking, self);
        if (now.IsLed) // A live leader is never robbed.
        {
            bool mayMove = !now.IsPinned || now.IsUnfit(now.Leader);
            return new Turn(IsMine: false, Wants: rank == 0 && now.Fit != 0 && mayMove && now.Leader != self);
        }
        if (rank < 0)
            return new Turn(IsMine: false); // It drains, or does not hear itself.
        if (now.ReleasedTo == self)
            return new Turn(IsMine: true, IsPinned: now.IsPinned);
        if (now.ReleasedTo.Length != 0 && now.SinceRelease < options.TakeUp)
            return new Turn(IsMine: false, Wait: options.TakeUp - now.SinceRelease);
        if (now.Claimant.Length != 0 && now.SinceClaim < options.LongestClaim)
            return new Turn(IsMine: false, Wait: options.LongestClaim - now.SinceClaim);
        if (now.Ranking.Take(rank).Any(now.Settling.Contains))
            return new Turn(IsMine: false, IsEarly: true);
        TimeSpan wait = (rank * options.NextChoice) - leaderless;
        return wait <= TimeSpan.Zero ? new Turn(IsMine: true) : new Turn(IsMine: false, Wait: wait);
    }

    private static int IndexOf(IReadOnlyList<string> ranking, string node)
    {
        for (int i = 0; i < ranking.Count; i++)
        {
            if (ranking[i] == node)
                return i;
        }
        return -1;
    }
}
