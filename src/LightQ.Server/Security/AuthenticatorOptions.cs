namespace LightQ.Server.Security;

/// <summary>Which clients need not log in, how many may try at once, and how many logins a user may have.</summary>
/// <param name="RequireAuth">Whether all must.</param>
/// <param name="AllowsRemoteAnonymous">Whether clients on other machines count like those on this one.</param>
/// <param name="MaxWaitingLogins">Passwords that may wait to be checked, now.</param>
/// <param name="MaxLoginsPerUser">Logins of one user that may be in force, now.</param>
/// <param name="IsLimitedToAdmin">
/// Whether only admin may log in, with its password: the catalog may still contain users that were removed. See
/// <see cref="CatalogConfirmation"/>.
/// </param>
internal sealed record AuthenticatorOptions(
    bool RequireAuth,
    bool AllowsRemoteAnonymous,
    Func<int> MaxWaitingLogins,
    Func<int> MaxLoginsPerUser,
    bool IsLimitedToAdmin = false
);
