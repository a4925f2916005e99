namespace LightQ.Server.Security;

/// <summary>Who need not log in, and how many may try at once.</summary>
/// <param name="RequireAuth">Whether all must.</param>
/// <param name="AllowsRemoteAnonymous">Whether clients on other machines count like those on this one.</param>
/// <param name="MaxWaitingLogins">Passwords that may wait to be checked, now.</param>
/// <param name="IsLimitedToAdmin">Whether nobody but admin may log in, with its password: the catalog may know who was removed. See <see cref="CatalogConfirmation"/>.</param>
internal sealed record AuthenticatorOptions(bool RequireAuth, bool AllowsRemoteAnonymous, Func<int> MaxWaitingLogins, bool IsLimitedToAdmin = false);
