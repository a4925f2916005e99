using System.Net;
using LightQ.Broker;
using LightQ.Broker.Replication;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>Connects a broker to the replicated log of its cluster.</summary>
internal static class ClusterConnection
{
    /// <summary>Where clients find a server: what the settings say, or else where it really listens.</summary>
    public static (string Data, string Control) AddressesOf(
        ClusterOptions options,
        IPEndPoint data,
        IPEndPoint control
    ) => (options.AdvertiseData ?? AddressOf(data), options.AdvertiseControl ?? AddressOf(control));

    /// <summary>
    /// Logs that topics with replicas are served by servers that do not sync before they acknowledge, though they are
    /// to: only new topics are refused for it.
    /// </summary>
    public static async Task WarnOfUnsyncedAsync(
        ReplicationOptions replication,
        LightQBroker broker,
        ILogger logger,
        CancellationToken cancellationToken
    )
    {
        int topics = broker.Topics.Count(topic => topic.Settings.IsReplicated);
        if (
            replication.RequireSync
            && topics != 0
            && await replication.Engine.FindUnsyncedAsync(cancellationToken).ConfigureAwait(false) is { } reason
        )
        {
            ServerLog.Unsynced(logger, topics, reason);
        }
    }

    /// <summary>Connects, if there is a cluster in the settings. The engine is the caller's to dispose.</summary>
    /// <exception cref="ServerStartException">A setting is wrong, or the program has no engine.</exception>
    /// <exception cref="ReplicationException">The log cannot be reached now.</exception>
    public static async Task<ReplicationOptions?> OpenAsync(
        LightQServerOptions options,
        ILoggerFactory loggers,
        CancellationToken cancellationToken
    )
    {
        ClusterOptions cluster = options.Cluster;
        var log = new ClusterLog(loggers.CreateLogger("LightQ.Server.Cluster"));
        if (cluster.Engine is null)
        {
            return options.Broker.Replication is { } given
                ? given with
                {
                    IsAdvertisedLater = true,
                    Version = ServerVersion.Text,
                    Events = given.Events ?? log,
                }
                : null;
        }
        if (options.ReplicationEngine is not { } connect)
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                $"Cluster:Engine is '{cluster.Engine}', and this program has no engine for replicated topics: set "
                    + $"{nameof(LightQServerOptions)}.{nameof(LightQServerOptions.ReplicationEngine)}."
            );
        }
        try
        {
            return new ReplicationOptions
            {
                Engine = await connect(cluster, loggers, cancellationToken).ConfigureAwait(false),
                Cluster = cluster.Name,
                Node = cluster.Node,
                IsAdvertisedLater = true,
                Version = ServerVersion.Text,
                Events = log,
                RequireSync = cluster.RequireSync,
            };
        }
        catch (ArgumentException e)
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                $"Cluster:Engine is '{cluster.Engine}': {e.Message}",
                e
            );
        }
    }

    private static string AddressOf(IPEndPoint listener)
    {
        bool isAny = listener.Address.Equals(IPAddress.Any) || listener.Address.Equals(IPAddress.IPv6Any);
        return isAny ? $"{Environment.MachineName}:{listener.Port}" : listener.ToString();
    }
}
