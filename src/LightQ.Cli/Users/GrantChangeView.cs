namespace LightQ.Cli.Users;

/// <summary>A right that was given or taken; not changed when it was so before.</summary>
internal sealed record GrantChangeView(string User, string Right, string Topic, bool Changed);
