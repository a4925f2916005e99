using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Replication.Nats;

/// <summary>
/// How to reach the NATS servers that keep replicated streams. Every value is checked when it is set.
/// </summary>
public sealed record NatsEngineOptions
{
    internal const string MonitoringForm = "http://HOST:PORT or https://HOST:PORT";

    /// <summary>
    /// The servers, as <c>nats://host:port</c>, or <c>tls://host:port</c> where TLS is a must. One is enough to begin
    /// with, since servers name each other; with several, any of them may be down at the start.
    /// </summary>
    public required IReadOnlyList<string> Servers
    {
        get;
        init => field = CheckServers(value, nameof(Servers));
    }

    /// <summary>
    /// The servers' monitoring ports, as <c>http://host:8222</c>: all of them, to find out whether they sync. Default:
    /// none.
    /// </summary>
    public IReadOnlyList<Uri> Monitoring
    {
        get;
        init => field = CheckMonitoring(value, nameof(Monitoring));
    } = [];

    /// <summary>
    /// The cluster of brokers that connects; the servers show it in the names of their connections. Default
    /// <c>lightq</c>.
    /// </summary>
    public string ClusterName
    {
        get;
        init =>
            field = StreamNames.IsName(value)
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(ClusterName),
                    value,
                    "letters, digits, underscores and hyphens"
                );
    } = "lightq";

    /// <summary>A file with a user's JWT and seed, as <c>nsc</c> writes it. Null: none.</summary>
    public string? CredentialsFile
    {
        get;
        init => field = CheckFile(value, nameof(CredentialsFile));
    }

    /// <summary>A file with an NKey's seed. Null: none.</summary>
    public string? SeedFile
    {
        get;
        init => field = CheckFile(value, nameof(SeedFile));
    }

    /// <summary>The user to log in with <see cref="Password"/>. Null: none.</summary>
    public string? User { get; init; }

    /// <summary>The password of <see cref="User"/>.</summary>
    public string? Password { get; init; }

    /// <summary>
    /// Whether a connection must be encrypted; default is what the address and the server say. Without it, a server
    /// that offers no TLS is talked to in plain text.
    /// </summary>
    public bool RequireTls { get; init; }

    /// <summary>A file with the certificates (PEM) that the servers' must be signed by. Null: the system's.</summary>
    public string? CaFile
    {
        get;
        init => field = CheckFile(value, nameof(CaFile));
    }

    /// <summary>A file with the client's own certificate (PEM), for servers that ask for one. Null: none.</summary>
    public string? CertificateFile
    {
        get;
        init => field = CheckFile(value, nameof(CertificateFile));
    }

    /// <summary>The key (PEM) of <see cref="CertificateFile"/>.</summary>
    public string? KeyFile
    {
        get;
        init => field = CheckFile(value, nameof(KeyFile));
    }

    /// <summary>
    /// How long an append waits for its answer before its outcome is unknown. Default 1 second. Too short, a busy disk
    /// makes owners step down; too long, producers wait as long for a lost server.
    /// </summary>
    public TimeSpan AppendTimeout
    {
        get;
        init => field = CheckTime(value, nameof(AppendTimeout));
    } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long a single question (bounds, one entry) waits for its answer. Default 0.5 seconds: they are answered
    /// from memory or one read of a disk, and a takeover asks several in turn, so that a lost server costs each of
    /// them this time.
    /// </summary>
    public TimeSpan RequestTimeout
    {
        get;
        init => field = CheckTime(value, nameof(RequestTimeout));
    } = TimeSpan.FromSeconds(0.5);

    /// <summary>
    /// How long a change (create, purge, delete) and the first connection wait. Default 5 seconds: the servers agree
    /// on a change among themselves, elect a leader for what is new, and delete files.
    /// </summary>
    public TimeSpan ChangeTimeout
    {
        get;
        init => field = CheckTime(value, nameof(ChangeTimeout));
    } = TimeSpan.FromSeconds(5);

    /// <summary>Where the client logs lost connections and attempts to connect. Default: nowhere.</summary>
    public ILoggerFactory LoggerFactory { get; init; } = NullLoggerFactory.Instance;

    /// <summary>Leaves out the password, which a log must not show.</summary>
    public override string ToString() => $"{ClusterName} at {string.Join(',', Servers)}";

    private static string[] CheckServers(IReadOnlyList<string> servers, string name)
    {
        if (servers.Count == 0)
            throw new ArgumentOutOfRangeException(name, "none", "at least one server");
        foreach (string server in servers)
        {
            // A comma would make two of it: the client takes them as one text. A user in an address would be logged.
            if (
                !Uri.TryCreate(server, UriKind.Absolute, out Uri? uri)
                || uri.Scheme is not ("nats" or "tls")
                || uri.Host.Length == 0
                || uri.UserInfo.Length != 0
                || server.Contains(',', StringComparison.Ordinal)
            )
            {
                throw new ArgumentOutOfRangeException(name, server, "nats://HOST:PORT or tls://HOST:PORT");
            }
        }
        return [.. servers];
    }

    private static Uri[] CheckMonitoring(IReadOnlyList<Uri> addresses, string name)
    {
        foreach (Uri address in addresses)
        {
            if (
                !address.IsAbsoluteUri
                || address.Scheme is not ("http" or "https")
                || address.PathAndQuery != "/"
                || address.UserInfo.Length != 0
            )
            {
                throw new ArgumentOutOfRangeException(name, address, MonitoringForm);
            }
        }
        return [.. addresses.Distinct()];
    }

    private static string? CheckFile(string? value, string name) =>
        value is null || File.Exists(value) ? value : throw new ArgumentOutOfRangeException(name, value, "a file");

    private static TimeSpan CheckTime(TimeSpan value, string name) =>
        value > TimeSpan.Zero && value <= TimeSpan.FromMinutes(1)
            ? value
            : throw new ArgumentOutOfRangeException(name, value, "above 0, at most one minute");
}
