namespace LightQ.Client.Administration;

/// <summary>A token that outlives a login. The token itself is shown once, when it is created.</summary>
/// <param name="Id">Names the token. A client cannot log in with it.</param>
/// <param name="User">The user that the token belongs to.</param>
/// <param name="CreateTime">When it was created.</param>
/// <param name="ExpireTime">When it expires; null for never.</param>
/// <param name="Description">What it is for; may be empty.</param>
public sealed record TokenInfo(
    string Id,
    string User,
    DateTimeOffset CreateTime,
    DateTimeOffset? ExpireTime,
    string Description
);
