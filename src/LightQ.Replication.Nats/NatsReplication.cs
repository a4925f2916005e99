using LightQ.Broker.Replication;
using Microsoft.Extensions.Logging;

namespace LightQ.Replication.Nats;

/// <summary>Connects a broker's settings to NATS.</summary>
public static class NatsReplication
{
    /// <summary>Connects to the servers that a broker's settings name.</summary>
    /// <param name="servers">As <c>nats://HOST:PORT</c>, separated by commas.</param>
    /// <param name="cluster">The cluster's name.</param>
    /// <param name="credentials">A file with a user's JWT and seed; null for none.</param>
    /// <param name="loggers">Where lost connections are logged.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="ReplicationException">None answers, or it has no JetStream.</exception>
    /// <exception cref="ArgumentException">A value is not allowed.</exception>
    public static async Task<IReplicationEngine> ConnectAsync(
        string servers,
        string cluster,
        string? credentials,
        ILoggerFactory loggers,
        CancellationToken cancellationToken
    )
    {
        ArgumentNullException.ThrowIfNull(servers);
        return await JetStreamEngine
            .ConnectAsync(
                new NatsEngineOptions
                {
                    Servers = servers.Split(
                        ',',
                        StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries
                    ),
                    ClusterName = cluster,
                    CredentialsFile = credentials,
                    LoggerFactory = loggers,
                },
                cancellationToken
            )
            .ConfigureAwait(false);
    }
}
