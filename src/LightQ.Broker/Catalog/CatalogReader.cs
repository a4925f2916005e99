using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Storage.Inspection;

namespace LightQ.Broker.Catalog;

/// <summary>Reads the catalog of a broker that does not run. Changes nothing.</summary>
public static class CatalogReader
{
    /// <summary>
    /// Whether a data directory holds topics or positions of groups, and no catalog, neither here nor in a cluster.
    /// </summary>
    public static bool IsGone(string dataDirectory)
    {
        string topics = Path.Combine(dataDirectory, "topics");
        return !File.Exists(Path.Combine(dataDirectory, ClusterMembership.FileName))
            && !JournalInspector.IsJournal(Path.Combine(dataDirectory, TopicCatalog.DirectoryName))
            && (
                JournalInspector.IsJournal(Path.Combine(dataDirectory, "groups"))
                || (Directory.Exists(topics) && Directory.EnumerateFileSystemEntries(topics).Any())
            );
    }

    /// <summary>The node and the cluster whose data directory it is; null for that of a broker alone.</summary>
    /// <exception cref="LightQ.Storage.DataDirectoryException">The file that says so is damaged.</exception>
    public static (string Node, string Cluster)? FindCluster(string dataDirectory) =>
        ClusterMembership.Read(dataDirectory) is { } found ? (found.Node, found.Cluster) : null;

    /// <summary>Reads the durable topics that the catalog knows.</summary>
    /// <param name="directory">The data directory's <c>catalog</c>.</param>
    /// <param name="report">What is wrong with the catalog: the topics are those of its valid records.</param>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <returns>By id, each topic's name and how many partitions it has.</returns>
    public static IReadOnlyDictionary<Guid, (string Name, int Partitions)> ReadDurableTopics(
        string directory,
        out JournalReport report
    )
    {
        var topics = new Dictionary<Guid, (string Name, int Partitions)>();
        report = JournalInspector.InspectRecords(
            directory,
            bytes =>
            {
                var record = CatalogRecord.Read(bytes);
                if (record.Topic is { Settings.Kind: TopicKind.Durable } topic)
                    topics[topic.Id] = (topic.Name, (int)topic.Settings.Partitions);
                if (record.DeletedTopic is { } deleted)
                    topics.Remove(deleted);
            }
        );
        return topics;
    }

    /// <summary>The topics of a catalog, as far as its records are valid, whose settings are of a kind.</summary>
    internal static IReadOnlySet<Guid> ReadTopics(string directory, Func<TopicSettings, bool> isWanted)
    {
        var topics = new HashSet<Guid>();
        JournalInspector.InspectRecords(
            directory,
            bytes =>
            {
                var record = CatalogRecord.Read(bytes);
                if (record.Topic is { } topic && isWanted(topic.Settings))
                    topics.Add(topic.Id);
                if (record.DeletedTopic is { } deleted)
                    topics.Remove(deleted);
            }
        );
        return topics;
    }

    /// <summary>Reads what the valid records of a catalog say, which is what a repair leaves of it.</summary>
    /// <param name="directory">The data directory's <c>catalog</c>.</param>
    /// <exception cref="IOException">It cannot be read.</exception>
    public static CatalogContents Read(string directory)
    {
        UserTable users = UserTable.Empty;
        var topics = new Dictionary<Guid, string>();
        JournalInspector.InspectRecords(
            directory,
            bytes =>
            {
                var record = CatalogRecord.Read(bytes);
                users = record.ApplyTo(users);
                if (record.Topic is { } topic)
                    topics[topic.Id] = topic.Name;
                if (record.DeletedTopic is { } deleted)
                    topics.Remove(deleted);
            }
        );
        return new CatalogContents(users, topics.Values.ToHashSet(StringComparer.Ordinal));
    }

    /// <summary>Finds when the records were written that a repair loses.</summary>
    /// <param name="directory">The data directory's <c>catalog</c>.</param>
    /// <param name="losses">The lost ranges.</param>
    /// <returns>
    /// For each, the time of the last record in front of it and of the first behind it, where there is one.
    /// </returns>
    public static IReadOnlyList<(DateTimeOffset? From, DateTimeOffset? To)> TimesOf(
        string directory,
        IReadOnlyList<RepairLoss> losses
    )
    {
        var times = new (DateTimeOffset? From, DateTimeOffset? To)[losses.Count];
        JournalInspector.ReadRecords(
            directory,
            (_, _, batch, isValid) =>
            {
                if (!isValid || batch.Kind != BatchKind.Data)
                    return;
                DateTimeOffset at = UnixMicroseconds.ToTime(batch.AppendTime);
                for (int i = 0; i < times.Length; i++)
                {
                    if (batch.BaseOffset < losses[i].FirstOffset)
                        times[i].From = at;
                    else if (batch.BaseOffset > losses[i].LastOffset)
                        times[i].To ??= at;
                }
            }
        );
        return times;
    }
}
