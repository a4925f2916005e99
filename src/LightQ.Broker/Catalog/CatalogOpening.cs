using LightQ.Broker.Replication;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>Opens the catalog of a data directory: its own, or that of the cluster it is a node of.</summary>
internal static class CatalogOpening
{
    /// <summary>Opens it.</summary>
    /// <param name="directory">The data directory.</param>
    /// <param name="environment">Whose files and housekeeping its own catalog uses.</param>
    /// <param name="replication">The cluster; null for none.</param>
    /// <param name="time">The clock.</param>
    /// <param name="failureChanged">Called when it cannot be stored or read, and with null when that is over.</param>
    /// <exception cref="DataDirectoryException">
    /// The directory belongs to another cluster, or to one at all.
    /// </exception>
    /// <exception cref="ReplicationException">The cluster's catalog cannot be read.</exception>
    public static TopicCatalog Open(
        string directory,
        JournalEnvironment environment,
        ReplicationOptions? replication,
        TimeProvider time,
        Action<JournalFailure?> failureChanged
    )
    {
        if (replication is not null)
            return OpenShared(directory, environment, replication, time, failureChanged);
        ClusterMembership.ThrowIfMember(directory);
        return new TopicCatalog(Path.Combine(directory, TopicCatalog.DirectoryName), environment, failureChanged);
    }

    private static StreamRecordLog OpenLog(
        string directory,
        ClusterMembership? before,
        ReplicationOptions replication,
        TimeProvider time,
        Action<JournalFailure?> failureChanged
    )
    {
        try
        {
            return Task.Run(() =>
                    StreamRecordLog.OpenAsync(replication, isMember: before is not null, time, failureChanged)
                )
                .GetAwaiter()
                .GetResult();
        }
        catch (ReplicationException e) when (e.IsLoss)
        {
            throw before is null
                ? new BrokerException(ErrorCode.NotSupported, e.Message)
                : before.Refuse(directory, e.Message);
        }
    }

    private static TopicCatalog OpenShared(
        string directory,
        JournalEnvironment environment,
        ReplicationOptions replication,
        TimeProvider time,
        Action<JournalFailure?> failureChanged
    )
    {
        var before = ClusterMembership.Read(directory);
        StreamRecordLog log = OpenLog(directory, before, replication, time, failureChanged);
        try
        {
            var now = ClusterMembership.Check(directory, before, replication, log.Tables);
            if (before is null)
                new CatalogImport(directory, log.Tables, replication.Node).Run(environment, log, replication);
            if (now != before)
                now.Write(directory);
            return new TopicCatalog(log.Tables, log);
        }
        catch
        {
            log.Dispose();
            throw;
        }
    }
}
