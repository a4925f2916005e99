namespace LightQ.Broker.Users;

/// <summary>A token that was made for a user and outlives a login. The token itself is not kept.</summary>
/// <param name="Id">Names it in lists; worth nothing as a login.</param>
/// <param name="User">The user that it stands for; <c>admin</c> is possible.</param>
/// <param name="Hash">SHA-256 of the token, in hexadecimal digits.</param>
/// <param name="Created">When it was made.</param>
/// <param name="Expires">When it ends; null for never.</param>
/// <param name="Description">What it is for, for people; may be empty.</param>
public sealed record AccessToken(
    string Id,
    string User,
    string Hash,
    DateTimeOffset Created,
    DateTimeOffset? Expires,
    string Description
)
{
    /// <summary>The id alone.</summary>
    public override string ToString() => Id;
}
