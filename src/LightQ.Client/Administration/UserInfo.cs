namespace LightQ.Client.Administration;

/// <summary>A user of the broker besides admin.</summary>
/// <param name="Name">The name.</param>
/// <param name="CreateTime">When the user was created.</param>
/// <param name="HasPassword">Whether the user can log in with a password.</param>
/// <param name="GrantsCount">How many rights the user has.</param>
/// <param name="TokensCount">How many long-lived tokens the user has.</param>
public sealed record UserInfo(
    string Name,
    DateTimeOffset CreateTime,
    bool HasPassword,
    int GrantsCount,
    int TokensCount
);
