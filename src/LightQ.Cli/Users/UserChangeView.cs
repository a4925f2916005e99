namespace LightQ.Cli.Users;

/// <summary>A user that was created, deleted, or got another password.</summary>
internal sealed record UserChangeView(string User, string Change);
