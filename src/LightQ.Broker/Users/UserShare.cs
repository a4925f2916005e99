namespace LightQ.Broker.Users;

/// <summary>
/// What one user may have of that which all users share, by the rule of all <see cref="Shares"/>: at most as much as it
/// leaves to the others, so one alone gets half.
/// </summary>
/// <remarks>
/// Clients without a login may do whatever there is to do where they are let in, and have no share. Nor has admin, who
/// may do everything, and clear away what others have: a broker on which there is nobody else is all its own.
/// </remarks>
internal static class UserShare
{
    /// <summary>Whether a user may have no more.</summary>
    /// <param name="user">Its <see cref="UserNumber"/>.</param>
    /// <param name="own">What it has.</param>
    /// <param name="all">What all have.</param>
    /// <param name="most">What there may be.</param>
    /// <param name="percent">See <see cref="BrokerOptions.MaxSharePercent"/>.</param>
    /// <param name="amount">What it wants.</param>
    public static bool IsUsedUp(uint user, long own, long all, long most, int percent, long amount = 1) =>
        HasShare(user) && Shares.Judge(own, all, most, percent, amount) != Admission.Admitted;

    /// <summary>Whether a user has a share at all.</summary>
    public static bool HasShare(uint user) => user is not (UserNumber.None or UserNumber.Admin);

    /// <summary>Whether shares can matter: not while a user could have all that is taken.</summary>
    public static bool Matters(uint user, long all, long most, int percent) => IsUsedUp(user, all, all, most, percent);

    /// <summary>What was found, for the error of a user whose share is used up.</summary>
    /// <param name="own">What it has.</param>
    /// <param name="all">What all have.</param>
    /// <param name="what">Of what, in the plural.</param>
    public static string Describe(long own, long all, string what) =>
        FormattableString.Invariant(
            $"The user has {own} of {all} {what}, and may have at most as many as it leaves to others"
        );
}
