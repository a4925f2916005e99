using LightQ.Client.Administration;

namespace LightQ.Cli.Users;

/// <summary>A lasting token as the tool shows it; with the token itself when it has just been made.</summary>
internal sealed record TokenView(
    string Id,
    string User,
    DateTimeOffset CreateTime,
    DateTimeOffset? ExpireTime,
    string Description,
    string? Token = null
)
{
    public static TokenView From(TokenInfo info) =>
        new(info.Id, info.User, info.CreateTime, info.ExpireTime, info.Description);

    public static TokenView From(CreatedToken made) => From(made.Info) with { Token = made.Token };

    /// <summary>The id alone: a record would print the token, too.</summary>
    public override string ToString() => Id;
}
