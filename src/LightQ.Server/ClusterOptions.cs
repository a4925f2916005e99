namespace LightQ.Server;

/// <summary>
/// The cluster that this broker is of: where the log of topics with replicas is. Default: none, and no topic can have
/// replicas.
/// </summary>
public sealed record ClusterOptions
{
    private const int LongestName = 64;

    /// <summary>
    /// The servers of the replicated log, as <c>nats://HOST:PORT</c>, separated by commas. Null, the default: there is
    /// no cluster.
    /// </summary>
    public string? Engine { get; init; }

    /// <summary>
    /// The cluster's name, of letters, digits and hyphens, at most 64: it is part of the names of its streams. Default
    /// <c>lightq</c>.
    /// </summary>
    public string Name
    {
        get;
        init => field = CheckName(value, nameof(Name));
    } = "lightq";

    /// <summary>This broker's name in the cluster, likewise. Default: the machine's name.</summary>
    public string Node
    {
        get;
        init => field = CheckName(value, nameof(Node));
    } = new([.. Environment.MachineName.Where(IsAllowed).Take(LongestName).DefaultIfEmpty('n')]);

    /// <summary>
    /// <c>HOST:PORT</c> at which clients find this broker's data plane. Null, the default: the address that it listens
    /// on, or the machine's name when it listens on all.
    /// </summary>
    public string? AdvertiseData
    {
        get;
        init => field = CheckAddress(value, nameof(AdvertiseData));
    }

    /// <summary>Likewise of its control plane.</summary>
    public string? AdvertiseControl
    {
        get;
        init => field = CheckAddress(value, nameof(AdvertiseControl));
    }

    /// <summary>A file with a NATS user's JWT and seed, as <c>nsc</c> writes it. Null, the default: none.</summary>
    public string? CredentialsFile { get; init; }

    /// <summary>A file with the seed of a NATS user that is an NKey. Null, the default: none.</summary>
    public string? SeedFile { get; init; }

    /// <summary>The NATS user to log in as, with <see cref="PasswordFile"/>. Null, the default: none.</summary>
    public string? User { get; init; }

    /// <summary>A file that holds the password of <see cref="User"/>, and nothing else.</summary>
    public string? PasswordFile { get; init; }

    /// <summary>
    /// The authorities (PEM) that the certificates of the servers at <c>tls://HOST:PORT</c> must come from. Null, the
    /// default: the machine's own list.
    /// </summary>
    public string? CaFile { get; init; }

    /// <summary>The broker's own certificate (PEM), for servers that ask for one. Null, the default: none.</summary>
    public string? CertificateFile { get; init; }

    /// <summary>The private key (PEM) of <see cref="CertificateFile"/>.</summary>
    public string? KeyFile { get; init; }

    /// <summary>
    /// The authorities (PEM) that the certificates of the other nodes' control planes must come from, where the ports
    /// have TLS. Null, the default: the machine's own list.
    /// </summary>
    public string? NodeCaFile { get; init; }

    /// <summary>
    /// How long this broker believes the logins and rights that it knows when it cannot read the cluster's catalog.
    /// Default: one hour; zero: for ever. After that users and topics' own users are refused, which may cost them the
    /// topics that this broker alone has; with a long time what was revoked elsewhere counts here as long.
    /// </summary>
    public TimeSpan TrustCatalogFor
    {
        get;
        init =>
            field =
                value >= TimeSpan.Zero && value <= TimeSpan.FromDays(36_500)
                    ? value
                    : throw new ArgumentOutOfRangeException(
                        nameof(TrustCatalogFor),
                        value,
                        "zero, for ever, up to 100 years"
                    );
    } = TimeSpan.FromHours(1);

    /// <summary>
    /// Whether topics with replicas are made only while every server syncs before it acknowledges, as its monitoring
    /// port says. Default: true. With false, a power cut of all servers may lose up to 2 minutes of what was
    /// acknowledged.
    /// </summary>
    public bool RequireSync { get; init; } = true;

    /// <summary>
    /// The servers' monitoring ports, as <c>http://HOST:8222</c>, separated by commas: all of them, for
    /// <see cref="RequireSync"/>. Null, the default: none.
    /// </summary>
    public string? Monitoring { get; init; }

    private static string CheckName(string value, string name) =>
        value is { Length: >= 1 and <= LongestName } && value.All(IsAllowed)
            ? value
            : throw new ArgumentOutOfRangeException(name, value, $"1 to {LongestName} letters, digits and hyphens");

    private static string? CheckAddress(string? value, string name) =>
        value is null
        || (
            Uri.TryCreate($"tcp://{value}", UriKind.Absolute, out Uri? uri)
            && uri.Port is > 0 and <= ushort.MaxValue
            && uri.Authority == value
        )
            ? value
            : throw new ArgumentOutOfRangeException(name, value, "HOST:PORT, such as lq1.example:5700");

    private static bool IsAllowed(char c) => char.IsAsciiLetterOrDigit(c) || c == '-';
}
