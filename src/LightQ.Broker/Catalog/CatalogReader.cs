using LightQ.Broker.Topics;
using LightQ.Storage.Inspection;

namespace LightQ.Broker.Catalog;

/// <summary>Reads the catalog of a broker that does not run. Changes nothing.</summary>
public static class CatalogReader
{
    /// <summary>Whether a data directory holds topics or positions of groups, and no catalog.</summary>
    public static bool IsGone(string dataDirectory)
    {
        string topics = Path.Combine(dataDirectory, "topics");
        return !JournalInspector.IsJournal(Path.Combine(dataDirectory, TopicCatalog.DirectoryName))
            && (JournalInspector.IsJournal(Path.Combine(dataDirectory, "groups")) || (Directory.Exists(topics) && Directory.EnumerateFileSystemEntries(topics).Any()));
    }

    /// <summary>Reads the durable topics that the catalog knows.</summary>
    /// <param name="directory">The data directory's <c>catalog</c>.</param>
    /// <param name="report">What is wrong with the catalog: the topics are those of its valid records.</param>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <returns>By id, each topic's name and how many partitions it has.</returns>
    public static IReadOnlyDictionary<Guid, (string Name, int Partitions)> ReadDurableTopics(string directory, out JournalReport report)
    {
        var topics = new Dictionary<Guid, (string Name, int Partitions)>();
        report = JournalInspector.InspectRecords(directory, bytes =>
        {
            var record = CatalogRecord.Read(bytes);
            if (record.Topic is { Settings.Kind: TopicKind.Durable } topic)
                topics[topic.Id] = (topic.Name, (int)topic.Settings.Partitions);
            if (record.DeletedTopic is { } deleted)
                topics.Remove(deleted);
        });
        return topics;
    }
}
