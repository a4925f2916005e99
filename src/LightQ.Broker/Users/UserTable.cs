using System.Collections.Immutable;

namespace LightQ.Broker.Users;

/// <summary>The users and tokens at one moment.</summary>
/// <param name="Users">The users besides admin, by name.</param>
/// <param name="Tokens">The tokens, by <see cref="AccessToken.Hash"/>.</param>
public sealed record UserTable(ImmutableDictionary<string, User> Users, ImmutableDictionary<string, AccessToken> Tokens)
{
    /// <summary>No users.</summary>
    public static UserTable Empty { get; } =
        new(
            ImmutableDictionary.Create<string, User>(StringComparer.Ordinal),
            ImmutableDictionary.Create<string, AccessToken>(StringComparer.Ordinal)
        );
}
