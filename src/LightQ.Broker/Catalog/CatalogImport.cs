using LightQ.Broker.Replication;
using LightQ.Storage;
using LightQ.Storage.Inspection;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Puts the catalog of a broker that was alone into that of the cluster it joins. Done again it changes nothing.
/// </summary>
internal sealed class CatalogImport(string dataDirectory, CatalogTables cluster, string node)
{
    /// <summary>Imports the catalog that a data directory has, if any.</summary>
    /// <exception cref="DataDirectoryException">A name is taken in the cluster: nothing is imported.</exception>
    /// <exception cref="BrokerException">The cluster's catalog could not be changed.</exception>
    public void Run(JournalEnvironment environment, IRecordLog log, ReplicationOptions options)
    {
        string directory = Path.Combine(dataDirectory, TopicCatalog.DirectoryName);
        if (!JournalInspector.IsJournal(directory))
            return;
        var own = new CatalogTables();
        using (new FileRecordLog(directory, environment, own, static _ => { }, long.MaxValue))
        {
            CatalogRecord[] records = [.. own.Live().Select(OfThisNode)];
            lock (cluster.Lock)
            {
                foreach (CatalogRecord record in records)
                    Demand(record);
            }
            foreach (CatalogRecord[] part in CatalogEntry.Split(records, options.Engine.MaxEntryBytes))
                log.Change(() => [.. part.Where(IsMissing)], takesAway: false);
        }
    }

    private CatalogRecord OfThisNode(CatalogRecord record) =>
        record.Topic is { Settings.IsReplicated: false } topic
            ? record with
            {
                Topic = topic with { Node = node },
            }
            : record;

    /// <summary>Whether the cluster lacks what a record says.</summary>
    private bool IsMissing(CatalogRecord record)
    {
        Demand(record);
        return record switch
        {
            { Topic: { } topic } => cluster.FindTopic(topic.Id) is null,
            { Producer: { } producer } => cluster.FindTopic(producer.TopicId) is not null
                && cluster.FindProducer(producer.TopicId, producer.OwnerNumber, producer.Name) is null,
            { User: { } user } => !cluster.Users.Users.ContainsKey(user.Name),
            { Token: { } token } => !cluster.Users.Tokens.ContainsKey(token.Hash),
            _ => false,
        };
    }

    private void Demand(CatalogRecord record)
    {
        if (record.Topic is { } own && cluster.TryFindTopic(own.Name, out var topic) && topic.Id != own.Id)
            throw Taken($"topic '{own.Name}'");
        if (record.User is { } user && cluster.Users.Users.TryGetValue(user.Name, out var other) && other.Id != user.Id)
            throw Taken($"user '{user.Name}'");
    }

    private DataDirectoryException Taken(string what) =>
        new(
            dataDirectory,
            $"The data directory '{dataDirectory}' is of a broker that was alone. Its topics and users become the "
                + $"cluster's, and the cluster has another {what} already. Nothing was changed: delete one of the two, "
                + $"or join with an empty directory.",
            new InvalidOperationException(what)
        );
}
