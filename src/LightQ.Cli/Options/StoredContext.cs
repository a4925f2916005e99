namespace LightQ.Cli.Options;

/// <summary>A broker that has a name: what <c>--context</c> stands for.</summary>
/// <remarks>Not a record, which would print its password and token.</remarks>
internal sealed class StoredContext
{
    /// <summary>The connection string, without password and token.</summary>
    public required string Server { get; init; }

    /// <summary>The user's password, if the connection string had one.</summary>
    public string? Password { get; init; }

    /// <summary>The file with the user's password; read each time.</summary>
    public string? PasswordFile { get; init; }

    /// <summary>The token, if the connection string had one.</summary>
    public string? Token { get; init; }

    /// <summary>The file with the token; read each time.</summary>
    public string? TokenFile { get; init; }
}
