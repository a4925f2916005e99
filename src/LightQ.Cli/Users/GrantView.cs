using LightQ.Cli.Options;
using LightQ.Client.Administration;

namespace LightQ.Cli.Users;

/// <summary>A right as the tool shows it.</summary>
internal sealed record GrantView(string User, string Right, string Topic)
{
    public static GrantView From(UserGrantInfo grant) =>
        new(grant.User, ValueOptions.Hyphenated(grant.Right), grant.Topic);
}
