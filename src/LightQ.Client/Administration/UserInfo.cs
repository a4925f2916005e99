namespace LightQ.Client.Administration;

/// <summary>A user of the broker besides admin.</summary>
/// <param name="Name">The name.</param>
/// <param name="CreateTime">When it was made.</param>
/// <param name="HasPassword">Whether it can log in with a password.</param>
/// <param name="GrantsCount">How many rights it has.</param>
/// <param name="TokensCount">How many lasting tokens it has.</param>
public sealed record UserInfo(
    string Name,
    DateTimeOffset CreateTime,
    bool HasPassword,
    int GrantsCount,
    int TokensCount
);
