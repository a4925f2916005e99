namespace LightQ.Replication.Nats;

/// <summary>How a broker logs in to the servers, and whom it trusts. Every value may be left out.</summary>
public sealed record NatsLogin
{
    /// <summary>A file with a user's JWT and seed, as <c>nsc</c> writes it.</summary>
    public string? CredentialsFile { get; init; }

    /// <summary>A file with the seed of a user that is an NKey, as <c>nk -gen user</c> writes it.</summary>
    public string? SeedFile { get; init; }

    /// <summary>The user to log in as, with <see cref="PasswordFile"/>.</summary>
    public string? User { get; init; }

    /// <summary>A file that holds the user's password, and nothing else.</summary>
    public string? PasswordFile { get; init; }

    /// <summary>The authorities (PEM) that the servers' certificates must come from.</summary>
    public string? CaFile { get; init; }

    /// <summary>The client's own certificate (PEM).</summary>
    public string? CertificateFile { get; init; }

    /// <summary>The key (PEM) of <see cref="CertificateFile"/>.</summary>
    public string? KeyFile { get; init; }

    /// <summary>The password, read from its file.</summary>
    /// <exception cref="ArgumentException">The file cannot be read, or one of user and password is missing.</exception>
    internal string? ReadPassword()
    {
        if (User is null != PasswordFile is null)
        {
            throw new ArgumentException(
                $"{nameof(User)} and {nameof(PasswordFile)} go together, and one of them is missing"
            );
        }
        if (PasswordFile is null)
            return null;
        try
        {
            string password = File.ReadAllText(PasswordFile).TrimEnd('\r', '\n');
            return password.Length != 0
                ? password
                : throw new ArgumentException($"{nameof(PasswordFile)} '{PasswordFile}' is empty");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ArgumentException($"{nameof(PasswordFile)} '{PasswordFile}' cannot be read: {e.Message}", e);
        }
    }
}
