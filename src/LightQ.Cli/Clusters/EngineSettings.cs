using LightQ.Replication.Nats;
using LightQ.Server;
using Microsoft.Extensions.Logging;

namespace LightQ.Cli.Clusters;

/// <summary>The replicated log of a broker's settings, for NATS.</summary>
internal static class EngineSettings
{
    /// <summary>How a broker with these settings logs in.</summary>
    public static NatsLogin LoginOf(ClusterOptions cluster) =>
        new()
        {
            CredentialsFile = cluster.CredentialsFile,
            SeedFile = cluster.SeedFile,
            User = cluster.User,
            PasswordFile = cluster.PasswordFile,
            CaFile = cluster.CaFile,
            CertificateFile = cluster.CertificateFile,
            KeyFile = cluster.KeyFile,
        };

    /// <summary>The options with which such a broker connects.</summary>
    /// <exception cref="ArgumentException">A value is not allowed.</exception>
    public static NatsEngineOptions Of(ClusterOptions cluster, ILoggerFactory loggers) =>
        NatsReplication.Options(cluster.Engine!, cluster.Monitoring, cluster.Name, LoginOf(cluster), loggers);
}
