using LightQ.Broker.Replication;
using Microsoft.Extensions.Logging;

namespace LightQ.Replication.Nats;

/// <summary>Connects a broker's settings to NATS.</summary>
public static class NatsReplication
{
    /// <summary>Connects to the servers that a broker's settings name.</summary>
    /// <param name="servers">As <c>nats://HOST:PORT</c> or <c>tls://HOST:PORT</c>, separated by commas.</param>
    /// <param name="monitoring">
    /// Their monitoring ports as <c>http://HOST:PORT</c>, separated by commas; null for none.
    /// </param>
    /// <param name="cluster">The cluster's name.</param>
    /// <param name="login">How to log in.</param>
    /// <param name="loggers">Where lost connections are logged.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="ReplicationException">None answers, or it has no JetStream.</exception>
    /// <exception cref="ArgumentException">
    /// A value is not allowed, they reject the login, or one side rejects the other's certificate.
    /// </exception>
    public static async Task<IReplicationEngine> ConnectAsync(
        string servers,
        string? monitoring,
        string cluster,
        NatsLogin login,
        ILoggerFactory loggers,
        CancellationToken cancellationToken
    )
    {
        try
        {
            return await JetStreamEngine
                .ConnectAsync(Options(servers, monitoring, cluster, login, loggers), cancellationToken)
                .ConfigureAwait(false);
        }
        catch (ReplicationException e) when (EngineFailure.IsOfConfiguration(e))
        {
            throw new ArgumentException(e.Message, e);
        }
    }

    /// <summary>The engine's options for a broker's settings.</summary>
    /// <param name="servers">As <c>nats://HOST:PORT</c> or <c>tls://HOST:PORT</c>, separated by commas.</param>
    /// <param name="monitoring">
    /// Their monitoring ports as <c>http://HOST:PORT</c>, separated by commas; null for none.
    /// </param>
    /// <param name="cluster">The cluster's name.</param>
    /// <param name="login">How to log in.</param>
    /// <param name="loggers">Where lost connections are logged.</param>
    /// <exception cref="ArgumentException">A value is not allowed.</exception>
    public static NatsEngineOptions Options(
        string servers,
        string? monitoring,
        string cluster,
        NatsLogin login,
        ILoggerFactory loggers
    )
    {
        ArgumentNullException.ThrowIfNull(servers);
        ArgumentNullException.ThrowIfNull(login);
        return new NatsEngineOptions
        {
            Servers = Split(servers),
            Monitoring = [.. Split(monitoring ?? "").Select(AddressOf)],
            ClusterName = cluster,
            CredentialsFile = login.CredentialsFile,
            SeedFile = login.SeedFile,
            User = login.User,
            Password = login.ReadPassword(),
            CaFile = login.CaFile,
            CertificateFile = login.CertificateFile,
            KeyFile = login.KeyFile,
            LoggerFactory = loggers,
        };
    }

    private static Uri AddressOf(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out Uri? address)
            ? address
            : throw new ArgumentException($"Monitoring '{text}' is not of the form {NatsEngineOptions.MonitoringForm}");

    private static string[] Split(string text) =>
        text.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
}
