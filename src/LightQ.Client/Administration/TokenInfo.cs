namespace LightQ.Client.Administration;

/// <summary>A token that outlives a login. The token itself is shown once, when it is made.</summary>
/// <param name="Id">Names it; worth nothing to who shows it.</param>
/// <param name="User">Whose it is.</param>
/// <param name="CreateTime">When it was made.</param>
/// <param name="ExpireTime">When it ends; null for never.</param>
/// <param name="Description">What it is for; may be empty.</param>
public sealed record TokenInfo(
    string Id,
    string User,
    DateTimeOffset CreateTime,
    DateTimeOffset? ExpireTime,
    string Description
);
