namespace LightQ.Broker.Users;

/// <summary>A user of the broker besides admin. Immutable; a change makes another.</summary>
/// <param name="Name">The name; it follows the rule of topics' names.</param>
/// <param name="Id">Made by the broker: a user made again under the same name is another.</param>
/// <param name="Created">When it was made.</param>
/// <param name="Password">
/// What proves its password, see <see cref="PasswordHash"/>; empty for a user that has none and logs in with tokens or
/// a certificate.
/// </param>
/// <param name="PasswordGeneration">
/// Counts the passwords: a login with an earlier one is no longer valid.
/// </param>
/// <param name="Grants">Its rights.</param>
public sealed record User(
    string Name,
    Guid Id,
    DateTimeOffset Created,
    string Password,
    uint PasswordGeneration,
    IReadOnlyList<Grant> Grants
)
{
    /// <summary>Whether it may do everything.</summary>
    public bool IsAdmin => Grants.Any(g => g.Right == Right.Admin);

    /// <summary>Whether a grant allows it.</summary>
    /// <param name="right">The right.</param>
    /// <param name="topic">On which topic.</param>
    /// <param name="owners">See <see cref="Grant.Covers"/>.</param>
    public bool May(Right right, string topic, IReadOnlySet<string>? owners = null)
    {
        foreach (Grant grant in Grants)
        {
            if (grant.Right == Right.Admin || (grant.Right == right && grant.Covers(topic, owners)))
                return true;
        }
        return false;
    }

    /// <summary>Whether any right reaches the topic.</summary>
    public bool Sees(string topic, IReadOnlySet<string>? owners = null) => Grants.Any(g => g.Covers(topic, owners));

    /// <summary>The name alone: a record would print the hash, too.</summary>
    public override string ToString() => Name;
}
