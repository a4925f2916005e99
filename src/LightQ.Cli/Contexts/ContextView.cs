namespace LightQ.Cli.Contexts;

/// <summary>A context as the tool shows it: without password and token.</summary>
/// <param name="Name">Its name.</param>
/// <param name="IsCurrent">Whether it is in use.</param>
/// <param name="Server">The connection string.</param>
/// <param name="Login">Who logs in, and with what.</param>
internal sealed record ContextView(string Name, bool IsCurrent, string Server, string Login)
{
    /// <summary>The file with the password; absent without one.</summary>
    public string? PasswordFile { get; init; }

    /// <summary>The file with the token; absent without one.</summary>
    public string? TokenFile { get; init; }

    /// <summary>The authorities that are trusted; absent for the machine's own.</summary>
    public string? Ca { get; init; }

    /// <summary>Where the context is stored.</summary>
    public string? File { get; init; }
}
