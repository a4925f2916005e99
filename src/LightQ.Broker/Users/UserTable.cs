using System.Collections.Immutable;

namespace LightQ.Broker.Users;

/// <summary>The users and tokens at one moment.</summary>
/// <param name="Users">The users besides admin, by name.</param>
/// <param name="Tokens">The tokens, by <see cref="AccessToken.Hash"/>.</param>
public sealed record UserTable(ImmutableDictionary<string, User> Users, ImmutableDictionary<string, AccessToken> Tokens)
{
    /// <summary>The password of admin; null where it is not in the catalog.</summary>
    public AdminCredentials? Admin { get; init; }

    /// <summary>Logins that were logged out, by their ids, until their tokens would have ended anyway.</summary>
    public ImmutableDictionary<Guid, EndedLogin> EndedLogins { get; init; } =
        ImmutableDictionary<Guid, EndedLogin>.Empty;

    /// <summary>No users.</summary>
    public static UserTable Empty { get; } =
        new(
            ImmutableDictionary.Create<string, User>(StringComparer.Ordinal),
            ImmutableDictionary.Create<string, AccessToken>(StringComparer.Ordinal)
        );

    /// <summary>Whether a user has this <see cref="UserNumber"/>.</summary>
    public bool HasNumber(uint number) => Users.Values.Any(u => UserNumber.Of(u.Id) == number);
}
