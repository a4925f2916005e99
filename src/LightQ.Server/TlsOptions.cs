using System.Runtime.CompilerServices;

namespace LightQ.Server;

/// <summary>TLS on all three ports. Without a certificate the ports do not encrypt.</summary>
public sealed record TlsOptions
{
    private ClientCertificates? _clientCertificates;

    /// <summary>
    /// The certificate: PEM, followed by its intermediate certificates, or PFX. Read again when the file changes.
    /// </summary>
    public string? CertificateFile
    {
        get;
        init => field = Path(value);
    }

    /// <summary>The certificate's private key in PEM. Default: it is in <see cref="CertificateFile"/>.</summary>
    public string? KeyFile
    {
        get;
        init => field = Path(value);
    }

    /// <summary>
    /// A file that holds the password of the key or the PFX, and nothing else. Default: they are not encrypted.
    /// </summary>
    public string? PasswordFile
    {
        get;
        init => field = Path(value);
    }

    /// <summary>
    /// Whether clients present certificates. Default: required if <see cref="ClientCaFile"/> is given, otherwise none.
    /// </summary>
    public ClientCertificates ClientCertificates
    {
        get => _clientCertificates ?? (ClientCaFile is null ? ClientCertificates.None : ClientCertificates.Required);
        init => _clientCertificates = value;
    }

    /// <summary>
    /// The authorities that clients' certificates must come from, in PEM; the machine's own list is never used.
    /// </summary>
    public string? ClientCaFile
    {
        get;
        init => field = Path(value);
    }

    /// <summary>
    /// Creates a certificate for this machine in the data directory, for a first try. Clients need a copy of the file.
    /// </summary>
    public bool SelfSigned { get; init; }

    /// <summary>Whether the ports speak TLS.</summary>
    public bool IsEnabled => SelfSigned || CertificateFile is not null;

    private static string? Path(string? value, [CallerMemberName] string name = "") =>
        value is null || value.Trim().Length != 0
            ? value
            : throw new ArgumentOutOfRangeException(name, value, "a path");
}
