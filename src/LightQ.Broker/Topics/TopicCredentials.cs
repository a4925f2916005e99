using LightQ.Broker.Users;

namespace LightQ.Broker.Topics;

/// <summary>
/// A topic's own user, and the hash that proves that a client knows its password. The password itself is not kept.
/// </summary>
/// <param name="User">The user's id.</param>
/// <param name="Password">The password's hash, see <see cref="PasswordHash"/>.</param>
public sealed record TopicCredentials(string User, string Password)
{
    /// <summary>Makes credentials for a password. Slow on purpose.</summary>
    public static TopicCredentials Create(string user, string password) => new(user, PasswordHash.Create(password));

    /// <summary>The user alone: a record would print the hash, too.</summary>
    public override string ToString() => User;
}
