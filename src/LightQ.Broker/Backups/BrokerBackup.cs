using LightQ.Broker.Catalog;
using LightQ.Broker.Topics;
using LightQ.Storage.Backups;
using LightQ.Storage.State;

namespace LightQ.Broker.Backups;

/// <summary>What a broker keeps, as of one moment; copied while the broker goes on.</summary>
/// <remarks>
/// What belongs together is taken in an order in which it never contradicts itself: positions before the ends of logs,
/// so that no group stands behind its log's end and no letter is missing that was settled; the catalog last, so that it
/// knows every producer whose batches are in a log. What was deleted in between is in none of them.
/// </remarks>
public sealed class BrokerBackup
{
    private const int BufferBytes = 64 * 1024; // Below the size from which memory counts as a large object.
    private const string TopicsDirectory = "topics",
        GroupsDirectory = "groups",
        CatalogDirectory = "catalog";

    private readonly IReadOnlyList<(OffsetKey Key, ReadOnlyMemory<byte> Record)> _positions;
    private readonly IReadOnlyList<(Partition Partition, JournalSnapshot Log)> _logs;
    private readonly HashSet<Guid> _topics;
    private readonly TopicCatalog _catalog;

    internal BrokerBackup(
        DateTimeOffset time,
        IReadOnlyList<(OffsetKey, ReadOnlyMemory<byte>)> positions,
        IReadOnlyList<(Partition, JournalSnapshot)> logs,
        IReadOnlyList<Topic> skipped,
        TopicCatalog catalog
    )
    {
        Time = time;
        SkippedTopics = skipped;
        _positions = positions;
        _logs = logs;
        _topics = [.. logs.Select(l => l.Item1.Topic.Id)];
        _catalog = catalog;
    }

    /// <summary>The moment.</summary>
    public DateTimeOffset Time { get; }

    /// <summary>About how many bytes there are to copy.</summary>
    public long Bytes => _logs.Sum(l => l.Log.Bytes);

    /// <summary>Topics that could not be opened, and are left out.</summary>
    public IReadOnlyList<Topic> SkippedTopics { get; }

    /// <summary>Copies it. Blocks on the disk.</summary>
    /// <param name="brokerId">The broker's id.</param>
    /// <param name="sink">Where it goes.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BrokerException">The broker is stopping.</exception>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    /// <returns>
    /// The topics that it holds, by name; of those that were deleted meanwhile, files may have been written.
    /// </returns>
    public async Task<IReadOnlyList<BackupTopic>> CopyAsync(
        Guid brokerId,
        IBackupSink sink,
        CancellationToken cancellationToken
    )
    {
        byte[] buffer = GC.AllocateUninitializedArray<byte>(BufferBytes);
        foreach ((Partition partition, JournalSnapshot log) in _logs)
        {
            if (partition.Topic.Deleted.IsCompleted)
                continue;
            string directory = $"{TopicsDirectory}/{partition.Topic.Id:N}/{partition.Index}";
            bool isCopied = await log.TryCopyAsync(directory, sink, buffer, cancellationToken).ConfigureAwait(false);
            if (!isCopied && !partition.Topic.Deleted.IsCompleted)
                throw new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping.");
        }
        IReadOnlyList<CatalogRecord> records = _catalog.Capture(_topics);
        BackupTopic[] topics =
        [
            .. records
                .Select(r => r.Topic)
                .OfType<CatalogRecord.TopicEntry>()
                .Select(ToTopic)
                .OrderBy(t => t.Name, StringComparer.Ordinal),
        ];
        HashSet<string> kept = [.. topics.Select(t => t.Id)];
        await WriteRecordsAsync(
                GroupsDirectory,
                _positions.Where(p => kept.Contains(p.Key.TopicId.ToString("N"))).Select(p => p.Record)
            )
            .ConfigureAwait(false);
        await WriteRecordsAsync(CatalogDirectory, records.Select(r => (ReadOnlyMemory<byte>)r.Write()))
            .ConfigureAwait(false);
        await sink.WriteFileAsync(BrokerIdentity.FileName, BrokerIdentity.Encode(brokerId), cancellationToken)
            .ConfigureAwait(false);
        return topics;

        ValueTask WriteRecordsAsync(string directory, IEnumerable<ReadOnlyMemory<byte>> content) =>
            sink.WriteFileAsync(
                $"{directory}/{RecordJournal.FirstFileName}",
                RecordJournal.EncodeFile(content),
                cancellationToken
            );
    }

    private static BackupTopic ToTopic(CatalogRecord.TopicEntry entry) =>
        new(
            entry.Name,
            entry.Id.ToString("N"),
            (int)entry.Settings.Partitions,
            entry.Settings.Kind == TopicKind.Durable
        );
}
