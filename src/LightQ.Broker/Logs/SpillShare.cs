using LightQ.Broker.Users;

namespace LightQ.Broker.Logs;

/// <summary>What one user's subscriptions may spill of what those of all may (<see cref="UserShare"/>).</summary>
/// <param name="options">The limits.</param>
/// <param name="refusals">Counts what is rejected.</param>
internal sealed class SpillShare(Func<BrokerOptions> options, LimitRefusals refusals)
{
    /// <summary>Whether a user may spill no more.</summary>
    /// <param name="user">Its <see cref="UserNumber"/>.</param>
    /// <param name="own">What it has spilled, in bytes.</param>
    /// <param name="all">What all have.</param>
    /// <param name="amount">What it wants.</param>
    public bool IsUsedUp(uint user, long own, long all, long amount)
    {
        BrokerOptions limits = options();
        if (!UserShare.IsUsedUp(user, own, all, limits.SpillBytes, limits.MaxSharePercent, amount))
            return false;
        refusals.Refuse(
            nameof(BrokerOptions.SpillBytes),
            limits.SpillBytes,
            UserShare.Describe(own, all, "bytes that are spilled")
        );
        return true;
    }
}
