using LightQ.Broker;
using LightQ.Broker.Replication;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>Connects a broker to the replicated log of its cluster.</summary>
internal static class ClusterConnection
{
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
    /// <exception cref="ServerStartException">The log cannot be reached, or the program has no engine.</exception>
    public static async Task<ReplicationOptions?> OpenAsync(
        LightQServerOptions options,
        ILoggerFactory loggers,
        CancellationToken cancellationToken
    )
    {
        ClusterOptions cluster = options.Cluster;
        if (cluster.Engine is null)
            return options.Broker.Replication;
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
                RequireSync = cluster.RequireSync,
            };
        }
        catch (Exception e) when (e is ReplicationException or ArgumentException)
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                $"Cluster:Engine is '{cluster.Engine}': {e.Message}",
                e
            );
        }
    }
}
